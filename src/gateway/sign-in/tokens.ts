import type { createRemoteJWKSet, JWTPayload } from 'jose';

import { tokenRefused, tokenRequired, tokensUnchecked } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { headerValues } from '../../modules/header-values.ts';
import type { HeaderList } from '../../modules/module.ts';
import type { TokenRule } from '../../modules/sign-in.ts';
import type { GatewayLog } from '../engine.ts';
import type { ConnectUpstream } from '../upstream/connect.ts';
import { createFetch } from '../../sign-in/guarded-fetch.ts';
import type { Fetch } from '../../sign-in/guarded-fetch.ts';
import { OwnAnswer } from './own-answer.ts';

/** Loaded by the first token: most installations need none. */
const load = () => import('jose');

type KeySet = ReturnType<typeof createRemoteJWKSet>;

/** The outcome of a check, in milliseconds since 1970. */
interface Checked {
  readonly untilMs: number;
  /** From then on it is checked again: the issuer may have taken the key away. */
  readonly againMs: number;
  /** Undefined: the token is good until then. */
  readonly refusal: UserError | undefined;
}

/** The keys of an issuer, and when they were asked for. */
interface Keys {
  readonly set: Promise<KeySet>;
  readAtMs: number;
}

interface TokensParts {
  readonly connect: ConnectUpstream;
  readonly log: GatewayLog;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

const checkedLimit = 10_000;
const issuersLimit = 1_000;
/** Longest token that is looked at. */
const tokenLength = 8_192;
/** A refusal counts for so long: then the issuer may have other keys. */
const refusedMs = 5_000;
/**
 * Keys are read again, and tokens checked again, after so long: within twice this time a key that was taken away lets nobody
 * in. Those that are new are noticed by the first token that has one.
 */
const keysMs = 300_000;
const answerMs = 10_000;
const bearer = /^bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i;
const compact = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/** Checks tokens that requests carry. A token that was checked is known for a while. */
export class Tokens {
  readonly #fetch: Fetch;
  readonly #log: GatewayLog;
  readonly #clock: () => number;
  readonly #checked = new BoundedCache<string, Checked>(checkedLimit);
  readonly #keys = new BoundedCache<string, Keys>(issuersLimit);

  constructor({ connect, log, clock = Date.now }: TokensParts) {
    this.#fetch = createFetch(connect);
    this.#log = log;
    this.#clock = clock;
  }

  /** Throws the answer to a request without a good token, or that which has the token checked first. */
  check(rule: TokenRule, headers: HeaderList): void {
    const token = readToken(rule, headers);
    if (token === undefined) throw new UserError(tokenRequired, { 'WWW-Authenticate': 'Bearer' });
    const checked = this.#checked.get(`${rule.key} ${token}`);
    if (checked === undefined || this.#clock() >= checked.againMs) throw new OwnAnswer(() => this.#learn(rule, token));
    if (checked.refusal !== undefined) throw checked.refusal;
  }

  /** True for a request whose token is still good. */
  mayStay(rule: TokenRule, headers: HeaderList): boolean {
    const token = readToken(rule, headers);
    const checked = token === undefined ? undefined : this.#checked.get(`${rule.key} ${token}`);
    return checked !== undefined && checked.refusal === undefined && this.#clock() < checked.untilMs;
  }

  async #learn(rule: TokenRule, token: string): Promise<'again'> {
    const checked = await this.#verify(rule, token);
    this.#checked.fill(this.#checked.ticket(), `${rule.key} ${token}`, checked);
    return 'again';
  }

  async #verify(rule: TokenRule, token: string): Promise<Checked> {
    const nowMs = this.#clock();
    try {
      const { jwtVerify } = await load();
      const { payload } = await jwtVerify(token, await this.#keysOf(rule), {
        issuer: rule.issuer,
        audience: [...rule.audiences],
        algorithms: [...rule.algorithms],
        clockTolerance: rule.skewSeconds,
        requiredClaims: ['exp'],
        currentDate: new Date(nowMs),
      });
      const missing = rule.claims.find(([name, values]) => !valuesOf(payload, name).some((value) => values.has(value)));
      if (missing !== undefined) return refuse(nowMs, `its claim ${missing[0]} is not one that is let in`);
      const untilMs = Math.max(nowMs + 1_000, ((payload.exp ?? 0) + rule.skewSeconds) * 1000);
      return { untilMs, againMs: Math.min(untilMs, nowMs + keysMs), refusal: undefined };
    } catch (error) {
      const { errors } = await load();
      const isOfToken = error instanceof errors.JOSEError && !(error instanceof errors.JWKSTimeout);
      // Every other fault is one of the way to the keys.
      if (isOfToken && !/^(?:Expected 200 OK|Failed to parse)/.test(error.message))
        return refuse(nowMs, wordsOf(error));
      this.#log.warn({ err: error, issuer: rule.issuer }, 'the keys of an issuer of tokens cannot be read');
      return refused(nowMs, new UserError(tokensUnchecked, { 'Retry-After': '10' }));
    }
  }

  async #keysOf({ issuer, jwksUri }: TokenRule): Promise<KeySet> {
    const key = `${issuer} ${jwksUri}`;
    const known = this.#keys.get(key);
    if (known === undefined) {
      const keys = { set: this.#openKeys(issuer, jwksUri), readAtMs: this.#clock() };
      keys.set.catch(() => {
        this.#keys.drop(key);
      });
      this.#keys.fill(this.#keys.ticket(), key, keys);
      return keys.set;
    }
    const set = await known.set;
    if (this.#clock() - known.readAtMs >= keysMs) {
      known.readAtMs = this.#clock();
      // Those that are known serve until the issuer answers.
      void set.reload().catch(() => {});
    }
    return set;
  }

  async #openKeys(issuer: string, jwksUri: string): Promise<KeySet> {
    const { createRemoteJWKSet: create, customFetch } = await load();
    const address = jwksUri === '' ? await this.#findKeys(issuer) : jwksUri;
    const fetch = (url: string, { headers, signal }: { readonly headers: Headers; readonly signal: AbortSignal }) =>
      this.#fetch(url, { method: 'GET', headers: Object.fromEntries(headers), signal });
    return create(new URL(address), {
      [customFetch]: fetch,
      timeoutDuration: answerMs,
      cooldownDuration: refusedMs,
      cacheMaxAge: Infinity,
    });
  }

  async #findKeys(issuer: string): Promise<string> {
    const address = `${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`;
    const answer = await this.#fetch(address, { method: 'GET', headers: {}, signal: AbortSignal.timeout(answerMs) });
    const found: unknown = answer.ok ? await answer.json() : undefined;
    if (typeof found !== 'object' || found === null || !('issuer' in found) || found.issuer !== issuer)
      throw new Error(`${address} has no metadata of this issuer`);
    if (!('jwks_uri' in found) || typeof found.jwks_uri !== 'string') throw new Error(`${address} names no keys`);
    return found.jwks_uri;
  }
}

function readToken({ header }: TokenRule, headers: HeaderList): string | undefined {
  const [value, ...more] = headerValues(headers, header);
  if (value === undefined || more.length > 0 || value.length > tokenLength) return undefined;
  if (header === 'authorization') return bearer.exec(value)?.[1];
  return compact.test(value.trim()) ? value.trim() : undefined;
}

function refuse(nowMs: number, reason: string): Checked {
  const headers = { 'WWW-Authenticate': 'Bearer error="invalid_token"' };
  return refused(nowMs, new UserError(tokenRefused, { reason }, headers));
}

function refused(nowMs: number, refusal: UserError): Checked {
  const untilMs = nowMs + refusedMs;
  return { untilMs, againMs: untilMs, refusal };
}

/** Nothing of the token is repeated. */
function wordsOf(error: Error): string {
  const { code } = error as { readonly code?: string };
  const words: Readonly<Record<string, string>> = {
    ERR_JWT_EXPIRED: 'it has expired',
    ERR_JWT_CLAIM_VALIDATION_FAILED: 'its issuer, audience or times are not those that are let in',
    ERR_JOSE_ALG_NOT_ALLOWED: 'its algorithm is not let in',
    ERR_JWKS_NO_MATCHING_KEY: 'no key of the issuer fits it',
    ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'its signature is wrong',
  };
  return words[code ?? ''] ?? 'it cannot be read';
}

/** A scope is a text of several words. */
function valuesOf(payload: JWTPayload, name: string): readonly string[] {
  const { [name]: value } = payload;
  if (name === 'scope' && typeof value === 'string') return value.split(' ');
  const list = Array.isArray(value) ? (value as readonly unknown[]) : [value];
  return list.flatMap((each) => (['string', 'number', 'boolean'].includes(typeof each) ? [String(each)] : []));
}
