import { X509Certificate } from 'node:crypto';
import type { SecureContext } from 'node:tls';

import { BoundedCache } from '../../lib/bounded-cache.ts';
import { readValidity } from '../../lib/certificate-validity.ts';
import { nextTurn } from '../../lib/next-turn.ts';
import type { CertificateEntry, SetAside, SnapshotFollower, SnapshotUpdate } from '../../snapshot/contract.ts';
import { buildContext } from './build-context.ts';
import { wildcardOf } from './wildcard-names.ts';

interface Certificate {
  readonly entry: CertificateEntry;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
}

/** A certificate, and its context if it is not in force yet. */
type Loaded = readonly [Certificate, SecureContext | undefined];

/** A context takes about 40 kB, and half a millisecond to build: the ones not in use are dropped and built again. */
const maxContexts = 1000;
/** Certificates loaded before traffic gets a turn. */
const batchSize = 16;

/**
 * The certificates in force, by account and name. One that cannot be loaded is not served: its names get another certificate
 * of the account that fits, or a leaf of the local CA.
 */
export class UploadedCertificates implements SnapshotFollower {
  #certificates = new Map<string, Certificate>();
  /** Certificates by `nameKey`. */
  #byName = new Map<string, readonly Certificate[]>();
  readonly #contexts = new BoundedCache<Certificate, SecureContext>(maxContexts);

  async prepare(update: SnapshotUpdate, setAside: SetAside): Promise<() => void> {
    const loaded: Loaded[] = [];
    const unloadable: string[] = [];
    for (const entry of update.set) {
      if (entry.kind !== 'certificate') continue;
      try {
        loaded.push(this.#load(entry));
      } catch (error) {
        setAside(entry, error);
        unloadable.push(entry.id);
      }
      if ((loaded.length + unloadable.length) % batchSize === 0) await nextTurn();
    }
    return () => {
      this.#swap(update, loaded);
      for (const id of unloadable) this.#remove(id);
    };
  }

  /** The context of the account's certificate that fits the name best, undefined if none fits; without an account, of any. */
  find(accountId: string | undefined, servername: string, nowMs: number): SecureContext | undefined {
    const exact = this.#byName.get(nameKey(accountId, servername)) ?? [];
    const wildcard = this.#byName.get(nameKey(accountId, wildcardOf(servername))) ?? [];
    const isValid = ({ notBeforeMs, notAfterMs }: Certificate): boolean => notBeforeMs <= nowMs && nowMs < notAfterMs;
    // An expired certificate is better than none: whoever uploaded it sees what is wrong.
    const choice =
      endsLast(exact.filter(isValid)) ?? endsLast(wildcard.filter(isValid)) ?? endsLast(exact) ?? endsLast(wildcard);
    return choice === undefined ? undefined : this.#contextOf(choice);
  }

  #load(entry: CertificateEntry): Loaded {
    const known = this.#certificates.get(entry.id);
    return known !== undefined && isSame(known.entry, entry) ? [known, undefined] : load(entry);
  }

  #contextOf(certificate: Certificate): SecureContext {
    const kept = this.#contexts.get(certificate);
    if (kept !== undefined) return kept;
    const context = buildContext(certificate.entry);
    this.#contexts.set(certificate, context);
    return context;
  }

  #swap(update: SnapshotUpdate, loaded: readonly Loaded[]): void {
    const named = new Set(loaded.map(([{ entry }]) => entry.id));
    if (update.full) for (const id of this.#certificates.keys()) if (!named.has(id)) this.#remove(id);
    for (const { kind, id } of update.removed) if (kind === 'certificate') this.#remove(id);
    for (const [certificate, context] of loaded) {
      // A certificate without a new context is in force already.
      if (context !== undefined) this.#add(certificate, context);
    }
  }

  #add(certificate: Certificate, context: SecureContext): void {
    const { id, accountId, names } = certificate.entry;
    this.#remove(id);
    this.#certificates.set(id, certificate);
    this.#contexts.set(certificate, context);
    for (const key of nameKeys(accountId, names)) {
      this.#byName.set(key, [...(this.#byName.get(key) ?? []), certificate]);
    }
  }

  #remove(id: string): void {
    const old = this.#certificates.get(id);
    if (old === undefined) return;
    this.#certificates.delete(id);
    this.#contexts.drop(old);
    for (const key of nameKeys(old.entry.accountId, old.entry.names)) {
      const left = (this.#byName.get(key) ?? []).filter((certificate) => certificate !== old);
      if (left.length === 0) this.#byName.delete(key);
      else this.#byName.set(key, left);
    }
  }
}

function load(entry: CertificateEntry): Loaded {
  if (entry.fault !== undefined) throw new Error(entry.fault);
  const { notBefore, notAfter } = readValidity(new X509Certificate(entry.certificatePem));
  const certificate = { entry, notBeforeMs: notBefore.getTime(), notAfterMs: notAfter.getTime() };
  return [certificate, buildContext(entry)];
}

function endsLast(certificates: readonly Certificate[]): Certificate | undefined {
  let last: Certificate | undefined;
  for (const one of certificates) if (last === undefined || one.notAfterMs > last.notAfterMs) last = one;
  return last;
}

function isSame(one: CertificateEntry, other: CertificateEntry): boolean {
  return (
    one.accountId === other.accountId &&
    one.certificatePem === other.certificatePem &&
    one.privateKeyPem === other.privateKeyPem &&
    one.names.join() === other.names.join()
  );
}

/** Without an account it is the key of all certificates for the name. */
function nameKey(accountId: string | undefined, name: string): string {
  return `${accountId ?? ''} ${name}`;
}

function nameKeys(accountId: string, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => [nameKey(accountId, name), nameKey(undefined, name)]);
}
