import { hash } from 'node:crypto';

import type { JWTPayload } from 'jose';

import { tokenRefused, tokenRequired, tokensUnchecked, tooManyTokenChecks } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { TooMuchWaits } from '../../lib/fair-turns.ts';
import { headerValues } from '../../lib/header-list.ts';
import { SharedCache } from '../../lib/shared-cache.ts';
import type { HeaderList, Outcome, RequestVisit, Wait } from '../../modules/step.ts';
import type { TokenRule } from '../../modules/sign-in.ts';
import { listOf } from '../../sign-in/claims.ts';
import { keysMs, KeysUnread } from '../../sign-in/issuer-keys.ts';
import type { Signatures } from '../../sign-in/signatures.ts';

/** Loaded by the first token: most installations need none. */
const load = () => import('jose');

/** The outcome of a check. Times are in milliseconds since 1970. */
interface Checked<Found> {
  readonly outcome: Found;
  readonly checkedAtMs: number;
  /** From then on the token is checked again. */
  readonly againMs: number;
}

interface TokensParts {
  readonly signatures: Signatures;
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
}

/** A token of a request at a route of an account. */
interface Shown {
  readonly accountId: string;
  readonly rule: TokenRule;
  readonly token: string;
  /** A digest of rule and token: nothing that is kept can be used as a token, and each takes as much memory. */
  readonly key: string;
}

const goodLimit = 10_000;
const refusedLimit = 1_000;
/** Longest token that is looked at. */
const tokenLength = 8_192;
/** A refusal counts for so long: then the issuer may have other keys. */
const refusedMs = 5_000;
const bearer = /^bearer +([\w-]+\.[\w-]+\.[\w-]+) *$/i;
const compact = /^[\w-]+\.[\w-]+\.[\w-]+$/;

/**
 * Checks tokens that requests carry. A token that was found good is known for `keysMs`, and is checked by keys that are no
 * older: within twice this time a key that the issuer has taken away lets nobody in.
 */
export class Tokens {
  readonly #signatures: Signatures;
  readonly #clock: () => number;
  /** Until when tokens are good, in milliseconds since 1970. */
  readonly #good = new SharedCache<Checked<number>>(goodLimit);
  readonly #refused = new SharedCache<Checked<UserError>>(refusedLimit);
  /** Checks under way: requests with one token wait for one check. */
  readonly #underWay = new Map<string, Promise<void>>();

  constructor({ signatures, clock = Date.now }: TokensParts) {
    this.#signatures = signatures;
    this.#clock = clock;
  }

  /** Leaves the end of a good token with the visit. */
  admit(visit: RequestVisit, rule: TokenRule): Outcome | undefined {
    const checked = this.check(visit.accountId, rule, visit.headers);
    if (typeof checked !== 'number') return checked;
    visit.tokens = [...visit.tokens, [rule.key, checked]];
    return undefined;
  }

  /** Returns until when the token is good, in milliseconds since 1970, the refusal, or that it must be checked first. */
  check(accountId: string, rule: TokenRule, headers: HeaderList): number | Outcome {
    const token = readToken(rule, headers);
    if (token === undefined) return new UserError(tokenRequired, { 'WWW-Authenticate': 'Bearer' });
    return this.#judge(accountId, rule, token);
  }

  judge({ accountId }: RequestVisit, rule: TokenRule, token: string): number | UserError | Wait {
    return this.#judge(accountId, rule, token);
  }

  #judge(accountId: string, rule: TokenRule, token: string): number | UserError | Wait {
    const key = hash('sha256', `${rule.key} ${token}`, 'base64');
    const good = this.#good.get(accountId, key);
    if (good !== undefined && this.#isKnown(good)) return good.outcome;
    const refused = this.#refused.get(accountId, key);
    if (refused !== undefined && this.#isKnown(refused)) return refused.outcome;
    return { kind: 'wait', start: () => this.#learn({ accountId, rule, token, key }) };
  }

  /** False also if the clock was set back. */
  #isKnown({ checkedAtMs, againMs }: Checked<unknown>): boolean {
    const nowMs = this.#clock();
    return nowMs >= checkedAtMs && nowMs < againMs;
  }

  async #learn(shown: Shown): Promise<undefined> {
    const name = `${shown.accountId} ${shown.key}`;
    let check = this.#underWay.get(name);
    if (check === undefined) {
      check = this.#keep(shown).finally(() => this.#underWay.delete(name));
      this.#underWay.set(name, check);
    }
    await check;
    return undefined;
  }

  async #keep(shown: Shown): Promise<void> {
    const { accountId, key } = shown;
    const outcome = await this.#outcomeOf(shown);
    // The issuer may have taken its time: what is found counts from now on.
    const checkedAtMs = this.#clock();
    if (outcome instanceof UserError) {
      this.#good.delete(accountId, key);
      this.#refused.set(accountId, key, { outcome, checkedAtMs, againMs: checkedAtMs + refusedMs });
    } else {
      const untilMs = Math.max(outcome, checkedAtMs + 1_000);
      const againMs = Math.min(untilMs, checkedAtMs + keysMs);
      this.#good.set(accountId, key, { outcome: untilMs, checkedAtMs, againMs });
    }
  }

  async #outcomeOf(shown: Shown): Promise<number | UserError> {
    try {
      const payload = await this.#verify(shown);
      const { claims, skewSeconds } = shown.rule;
      const missing = claims.find(([name, values]) => !valuesOf(payload, name).some((value) => values.has(value)));
      if (missing !== undefined) return refusal(`its claim ${missing[0]} is not one that is let in`);
      return ((payload.exp ?? 0) + skewSeconds) * 1000;
    } catch (error) {
      if (error instanceof KeysUnread) return new UserError(tokensUnchecked, { 'Retry-After': '10' });
      if (error instanceof TooMuchWaits) return new UserError(tooManyTokenChecks, { 'Retry-After': '10' });
      return refusal(wordsOf(error));
    }
  }

  async #verify({ accountId, rule, token }: Shown): Promise<JWTPayload> {
    const { jwtVerify } = await load();
    const { payload } = await this.#signatures.check(accountId, rule, (keys) =>
      jwtVerify(token, keys, {
        issuer: rule.issuer,
        ...(rule.audiences !== undefined && { audience: [...rule.audiences] }),
        ...(rule.type !== undefined && { typ: rule.type }),
        algorithms: [...rule.algorithms],
        clockTolerance: rule.skewSeconds,
        requiredClaims: ['exp'],
        currentDate: new Date(this.#clock()),
      }),
    );
    return payload;
  }
}

function readToken({ header }: TokenRule, headers: HeaderList): string | undefined {
  const [value, ...more] = headerValues(headers, header);
  if (value === undefined || more.length > 0 || value.length > tokenLength) return undefined;
  if (header === 'authorization') return bearer.exec(value)?.[1];
  return compact.test(value.trim()) ? value.trim() : undefined;
}

function refusal(reason: string): UserError {
  return new UserError(tokenRefused, { reason }, { 'WWW-Authenticate': 'Bearer error="invalid_token"' });
}

/** Nothing of the token is repeated. */
function wordsOf(error: unknown): string {
  const { code } = error as { readonly code?: string };
  const words: Readonly<Record<string, string>> = {
    ERR_JWT_EXPIRED: 'it has expired',
    ERR_JWT_CLAIM_VALIDATION_FAILED: 'its issuer, audience or times are not those that are let in',
    ERR_JOSE_ALG_NOT_ALLOWED: 'its algorithm is not let in',
    ERR_JWKS_NO_MATCHING_KEY: 'no key of the issuer fits it',
    ERR_JWKS_MULTIPLE_MATCHING_KEYS: 'several keys of the issuer fit it, and it names none',
    ERR_JWS_SIGNATURE_VERIFICATION_FAILED: 'its signature is wrong',
  };
  return words[code ?? ''] ?? 'it cannot be read';
}

/** A scope is a text of several words. */
function valuesOf(payload: JWTPayload, name: string): readonly string[] {
  const { [name]: value } = payload;
  return name === 'scope' && typeof value === 'string' ? value.split(' ') : listOf(value);
}
