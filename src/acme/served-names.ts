import { X509Certificate } from 'node:crypto';

import { readValidity } from '../lib/certificate-validity.ts';
import { keyOf } from '../snapshot/contract.ts';
import type { CertificateEntry, SnapshotEntry, SnapshotUpdate } from '../snapshot/contract.ts';
import type { KnownCertificate } from './plan.ts';

interface Name {
  readonly accountId: string;
  readonly hostname: string;
}

/** The names that the gateways serve over TLS with certificates of their own, and those certificates. */
export class ServedNames {
  /** By `keyOf`. */
  readonly #names = new Map<string, readonly Name[]>();
  readonly #certificates = new Map<string, KnownCertificate>();
  #onChange: () => void = () => {};

  /** Calls the listener after each change; there is one. */
  watch(onChange: () => void): void {
    this.#onChange = onChange;
  }

  get names(): readonly Name[] {
    return [...this.#names.values()].flat();
  }

  get certificates(): readonly KnownCertificate[] {
    return [...this.#certificates.values()];
  }

  follow({ full, set, removed }: SnapshotUpdate): void {
    if (full) {
      this.#names.clear();
      this.#certificates.clear();
    }
    for (const key of removed) this.#remove(keyOf(key));
    let isTouched = full || removed.length > 0;
    for (const entry of set) isTouched = this.#set(entry) || isTouched;
    if (isTouched) this.#onChange();
  }

  #remove(key: string): void {
    this.#names.delete(key);
    this.#certificates.delete(key);
  }

  #set(entry: SnapshotEntry): boolean {
    const key = keyOf(entry);
    if (entry.kind === 'certificate') {
      const known = readCertificate(entry);
      if (known === undefined) this.#certificates.delete(key);
      else this.#certificates.set(key, known);
      return true;
    }
    const names = namesOf(entry);
    if (names.length > 0) this.#names.set(key, names);
    else this.#names.delete(key);
    return names.length > 0;
  }
}

function namesOf(entry: SnapshotEntry): readonly Name[] {
  if (entry.kind === 'https_edge') {
    const { accountId, hostports } = entry;
    return hostports.map((hostport) => ({ accountId, hostname: hostport.slice(0, hostport.lastIndexOf(':')) }));
  }
  // One with a pair of its own needs no other; one that is passed on is not decrypted here.
  if (entry.kind !== 'tls_endpoint' || entry.termination === undefined || entry.termination.pair !== undefined)
    return [];
  return entry.names.map((hostname) => ({ accountId: entry.accountId, hostname }));
}

/** Undefined for one that no gateway can serve. */
function readCertificate({
  id,
  accountId,
  names,
  certificatePem,
  fault,
}: CertificateEntry): KnownCertificate | undefined {
  if (fault !== undefined) return undefined;
  try {
    const { notBefore, notAfter } = readValidity(new X509Certificate(certificatePem));
    return { id, accountId, names, notBeforeMs: notBefore.getTime(), notAfterMs: notAfter.getTime() };
  } catch {
    return undefined;
  }
}
