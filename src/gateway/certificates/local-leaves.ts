import type { SecureContext } from 'node:tls';

import { BoundedCache } from '../../lib/bounded-cache.ts';
import { buildContext } from './build-context.ts';
import type { LocalCa } from './local-ca.ts';

interface Leaf {
  readonly context: SecureContext;
  readonly notAfterMs: number;
  readonly renewAtMs: number;
}

const maxLeaves = 1000;
/** Issuing runs on the thread pool, which file access and DNS share. */
const maxIssuing = 2;
const maxWaiting = 256;

/** Leaves of the local CA, issued at the first request for a name and kept in memory only. */
export class LocalLeaves {
  readonly #localCa: LocalCa;
  readonly #showsAuthority: boolean;
  readonly #leaves = new BoundedCache<string, Leaf>(maxLeaves);
  readonly #underWay = new Map<string, Promise<SecureContext>>();
  readonly #waiting: (() => void)[] = [];
  #issuing = 0;

  /** `showsAuthority`: the certificate of the authority comes with each leaf, for clients that know its fingerprint alone. */
  constructor(localCa: LocalCa, { showsAuthority = false } = {}) {
    this.#localCa = localCa;
    this.#showsAuthority = showsAuthority;
  }

  async contextFor(name: string, nowMs: number): Promise<SecureContext> {
    const kept = this.#leaves.get(name);
    if (kept !== undefined && nowMs < kept.renewAtMs) return kept.context;
    const issued = this.#underWay.get(name) ?? this.#start(name, nowMs);
    // A renewal that fails is retried by the next client; the old leaf serves until it expires.
    return kept !== undefined && nowMs < kept.notAfterMs ? issued.catch(() => kept.context) : issued;
  }

  #start(name: string, nowMs: number): Promise<SecureContext> {
    const issued = this.#issue(name, nowMs).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, issued);
    return issued;
  }

  async #issue(name: string, nowMs: number): Promise<SecureContext> {
    await this.#takeTurn();
    try {
      const leaf = await this.#localCa.issue(name, new Date(nowMs));
      const { caCertificatePem } = this.#localCa;
      const chain = this.#showsAuthority
        ? `${leaf.certificatePem.trimEnd()}\n${caCertificatePem}`
        : leaf.certificatePem;
      const context = buildContext({ ...leaf, certificatePem: chain });
      const notAfterMs = leaf.notAfter.getTime();
      const renewAtMs = notAfterMs - (notAfterMs - leaf.notBefore.getTime()) / 3;
      this.#leaves.set(name, { context, notAfterMs, renewAtMs });
      return context;
    } finally {
      this.#endTurn();
    }
  }

  async #takeTurn(): Promise<void> {
    if (this.#issuing < maxIssuing) {
      this.#issuing++;
      return;
    }
    if (this.#waiting.length >= maxWaiting) throw new Error('Too many certificates are being issued at once.');
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Passes the turn to the next in line, so that nobody slips in between. */
  #endTurn(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#issuing--;
    else next();
  }
}
