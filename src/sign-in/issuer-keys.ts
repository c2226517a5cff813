import type { createLocalJWKSet } from 'jose';

import { faultOfNamedUrl } from '../lib/provider-url.ts';
import type { Fetch } from './guarded-fetch.ts';
import { keySetBytes, readKeySet } from './key-set.ts';

/** Loaded by the first token: most installations need none. */
const load = () => import('jose');

export type KnownKeys = ReturnType<typeof createLocalJWKSet>;

/** The keys of an issuer were never read, or a token needs one that is not among those that are known. */
export class KeysUnread extends Error {
  override readonly name = 'KeysUnread';
}

export interface KeysLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

interface IssuerKeysParts {
  readonly issuer: string;
  /** Empty: where the metadata of the issuer say. */
  readonly jwksUri: string;
  readonly fetch: Fetch;
  readonly log: KeysLog;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
  /** Time that the issuer has to answer. */
  readonly answerMs: number;
  /** Told how much memory the keys take, in bytes, whenever they were read. */
  readonly onRead: (bytes: number) => void;
}

/** Nobody is checked by keys that are older, unless the issuer is away. */
export const keysMs = 300_000;
/** Keys are read again while those that are known still serve, so that nobody waits for an issuer whose tokens are in use. */
const earlyMs = 240_000;
/** Time until a token that fits no key, or a fault, has the keys read once more. */
const pauseMs = 5_000;
/** A longer address of keys is none. */
const longestAddress = 2_048;
/** Memory of a key beside its text: it is opened for checks. */
const keyBytes = 2_048;

/** The keys of one issuer: read when they are needed, again from time to time, and kept while the issuer is away. */
export class IssuerKeys {
  readonly #parts: IssuerKeysParts;
  #known: KnownKeys | undefined;
  #knownAtMs = 0;
  #triedAtMs = 0;
  #reading: Promise<void> | undefined;
  /** Undefined once they were read. */
  #fault: KeysUnread | undefined;
  #leftOut = 0;

  constructor(parts: IssuerKeysParts) {
    this.#parts = parts;
  }

  /** The keys to check a token with. Throws `KeysUnread` where there are none. */
  async current(): Promise<KnownKeys> {
    if (this.#known === undefined) return this.#newest();
    if (this.#isSince(this.#knownAtMs, earlyMs)) {
      const reading = this.#mayTry() ? this.#read() : this.#reading;
      // An issuer that does not answer holds up one round of tokens, not all that follow.
      if (this.#fault === undefined && this.#isSince(this.#knownAtMs, keysMs)) await reading;
    }
    return this.#known;
  }

  /** Keys for a token that fits none of `known`; undefined where there are no others. Throws `KeysUnread` if nobody can say. */
  async beyond(known: KnownKeys): Promise<KnownKeys | undefined> {
    const newest = this.#known === known ? await this.#newest() : this.#known;
    return newest === known ? undefined : newest;
  }

  async #newest(): Promise<KnownKeys> {
    if (this.#isSince(this.#triedAtMs, pauseMs)) await this.#read();
    if (this.#fault !== undefined) throw this.#fault;
    if (this.#known === undefined) throw new KeysUnread('the keys were not read');
    return this.#known;
  }

  #mayTry(): boolean {
    return this.#fault === undefined || this.#isSince(this.#triedAtMs, pauseMs);
  }

  /** True also if the clock was set back. */
  #isSince(timeMs: number, spanMs: number): boolean {
    const passedMs = this.#parts.clock() - timeMs;
    return passedMs >= spanMs || passedMs < 0;
  }

  /** One reading at a time, which never fails: a fault is kept, and logged once. */
  #read(): Promise<void> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined;
      this.#triedAtMs = this.#parts.clock();
    });
    return this.#reading;
  }

  async #readNow(): Promise<void> {
    const { issuer, log, clock, answerMs, onRead } = this.#parts;
    // A key that is taken away while the answer comes is not among those of a later time.
    const askedAtMs = clock();
    try {
      const { createLocalJWKSet: open } = await load();
      const { keys, leftOut } = await within(answerMs, (signal) => this.#ask(signal));
      this.#known = open({ keys: [...keys] });
      this.#knownAtMs = askedAtMs;
      if (this.#fault !== undefined) log.info({ issuer }, 'the keys of an issuer of tokens can be read again');
      this.#fault = undefined;
      if (leftOut > this.#leftOut)
        log.warn(
          { issuer, keys: leftOut },
          'keys of an issuer of tokens are left out: they are too large or of no known form',
        );
      this.#leftOut = leftOut;
      onRead(keys.length * keyBytes + JSON.stringify(keys).length);
    } catch (error) {
      if (this.#fault === undefined) log.warn({ err: error, issuer }, 'the keys of an issuer of tokens cannot be read');
      this.#fault = new KeysUnread('the keys cannot be read', { cause: error });
    }
  }

  async #ask(signal: AbortSignal): Promise<ReturnType<typeof readKeySet>> {
    const { jwksUri, fetch } = this.#parts;
    const address = jwksUri === '' ? await this.#findAddress(signal) : jwksUri;
    const headers = { accept: 'application/json, application/jwk-set+json' };
    const answer = await fetch(address, { method: 'GET', headers, signal, maxBytes: keySetBytes });
    if (answer.status !== 200) throw new Error(`${address} answers ${answer.status}`);
    return readKeySet(await answer.text());
  }

  /** Asked each time, since an issuer may move its keys and leave an old copy behind. */
  async #findAddress(signal: AbortSignal): Promise<string> {
    const { issuer, fetch } = this.#parts;
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const answer = await fetch(address, { method: 'GET', headers: { accept: 'application/json' }, signal });
    const found: unknown = answer.status === 200 ? await answer.json() : undefined;
    if (typeof found !== 'object' || found === null || !('issuer' in found) || found.issuer !== issuer)
      throw new Error(`${address} has no metadata of this issuer`);
    const named = 'jwks_uri' in found && typeof found.jwks_uri === 'string' ? found.jwks_uri : '';
    const uri = named.length > longestAddress ? '' : named;
    const fault = faultOfNamedUrl(uri);
    if (fault !== undefined) throw new Error(`${address} names no keys that can be read: ${fault}`);
    return uri;
  }
}

/** Fails when the time is over, whatever the work waits for then. */
function within<T>(limitMs: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const signal = AbortSignal.timeout(limitMs);
  const { promise: late, reject } = Promise.withResolvers<never>();
  signal.addEventListener('abort', () => reject(new Error(`no answer within ${limitMs / 1000} seconds`)));
  return Promise.race([work(signal), late]);
}
