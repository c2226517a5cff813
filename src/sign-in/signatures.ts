import { FairTurns } from '../lib/fair-turns.ts';
import { SharedCache } from '../lib/shared-cache.ts';
import type { FetchFor } from './guarded-fetch.ts';
import { IssuerKeys } from './issuer-keys.ts';
import type { KeysLog, KnownKeys } from './issuer-keys.ts';

/** Loaded by the first token: most installations need none. */
const load = () => import('jose');

/** Where the keys of an issuer are read. */
interface KeysOf {
  readonly issuer: string;
  /** Empty: where the metadata of the issuer say. */
  readonly jwksUri: string;
}

interface SignaturesParts {
  readonly fetchFor: FetchFor;
  readonly log: KeysLog;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** Time that an issuer has to answer. */
  readonly answerMs?: number;
}

/** Bytes of the keys of all issuers. */
const keysLimit = 8 * 1024 * 1024;
/** Bytes of an issuer without keys. */
const issuerBytes = 1_024;
/** Signatures that are checked at once: one thread of the usual four is left for other work. */
const checkLimits = { atOnce: 3, ofOwner: 2, waiting: 1_000 };
/** Issuers that are asked at once. Those of one account that hang hold up no other account. */
const readLimits = { atOnce: Infinity, ofOwner: 8, waiting: 1_000 };

/**
 * Checks what issuers have signed, tokens of requests and those of logins alike. Accounts share the threads and the memory: an
 * account has one copy of the keys of an issuer.
 */
export class Signatures {
  readonly #parts: SignaturesParts;
  readonly #issuers = new SharedCache<IssuerKeys>(keysLimit);
  readonly #checks = new FairTurns(checkLimits);
  readonly #reads = new FairTurns(readLimits);

  constructor(parts: SignaturesParts) {
    this.#parts = parts;
  }

  /** Runs a check with the keys, and once more with newer ones if none fits. Throws `KeysUnread` and `TooMuchWaits`. */
  async check<T>(owner: string, keysOf: KeysOf, check: (keys: KnownKeys) => Promise<T>): Promise<T> {
    const { errors } = await load();
    const issuer = this.#issuerOf(owner, keysOf);
    const known = await issuer.current();
    try {
      return await this.#checks.run(owner, () => check(known));
    } catch (error) {
      const newer = error instanceof errors.JWKSNoMatchingKey ? await issuer.beyond(known) : undefined;
      if (newer === undefined) throw error;
      return this.#checks.run(owner, () => check(newer));
    }
  }

  #issuerOf(owner: string, { issuer, jwksUri }: KeysOf): IssuerKeys {
    const name = `${issuer} ${jwksUri}`;
    const known = this.#issuers.get(owner, name);
    if (known !== undefined) return known;
    const { fetchFor, log, clock = Date.now, answerMs = 10_000 } = this.#parts;
    const fetch = fetchFor(owner);
    const keys: IssuerKeys = new IssuerKeys({
      issuer,
      jwksUri,
      fetch: (url, options) => this.#reads.run(owner, () => fetch(url, options)),
      log,
      clock,
      answerMs,
      onRead: (bytes) => {
        this.#issuers.set(owner, name, keys, issuerBytes + bytes);
      },
    });
    this.#issuers.set(owner, name, keys, issuerBytes);
    return keys;
  }
}
