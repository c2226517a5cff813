import { ready, whenReady } from '../../lib/awaitable.ts';
import type { Awaitable } from '../../lib/awaitable.ts';
import { refused, refusedAsExpired } from '../../api/admission/bearer.ts';
import type { Identity, Principal } from '../../api/admission/caller.ts';
import { ownerInactive, tokenMalformed, tokenUnknown } from '../../api/errors.ts';
import { UserError } from '../../errors/user-error.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import { isBase62 } from '../../lib/base62.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { hashMatchesAny, hashSecret } from '../../lib/secrets.ts';
import type { Row } from '../../store/database.ts';
import type { Store } from '../../store/store.ts';
import { principals } from '../principals/service.ts';
import type { Services } from '../services.ts';
import type { KeyUses } from './key-uses.ts';
import type { TokenAuthenticator } from './service.ts';
import { apiKeys } from './table.ts';

/** A key as far as authentication needs it; `hash` is undefined where there is no such key. */
interface Candidate {
  readonly keyId: string;
  readonly accountId: string;
  readonly ownerId: string;
  readonly hash: string | undefined;
  /** The secret before the last rotation, and when it ends. */
  readonly previousHash: string | undefined;
  readonly previousEndsAtMs: number;
  readonly rotations: number;
  readonly expiresAt: string | undefined;
  readonly expiresAtMs: number;
  readonly readOnly: boolean;
  readonly policyIds: readonly string[];
}

const cacheSize = 20_000;
const bodyLength = 27;
const secretLength = 43;
const shortestChosen = 32;

const noPolicies: readonly string[] = [];
const nobody: Candidate = {
  keyId: '',
  accountId: '',
  ownerId: '',
  hash: undefined,
  previousHash: undefined,
  previousEndsAtMs: 0,
  rotations: 0,
  expiresAt: undefined,
  expiresAtMs: Infinity,
  readOnly: false,
  policyIds: noPolicies,
};

/**
 * Token → key → principal, from caches. Unknown keys are cached as well, in a cache of their own, so that an unknown
 * key and a wrong secret take the same path and the same time.
 */
export function createAuthenticator(store: Store, services: Services, uses: KeyUses): TokenAuthenticator {
  const keys = new KeyCache(store);
  const ownerOf = ({ accountId, ownerId }: Candidate) => services.get(principals).find(accountId, ownerId);

  const identify = (
    candidate: Candidate,
    hash: string,
    refusal: ErrorDefinition<never>,
    isUse: boolean,
  ): Awaitable<Identity> => {
    const nowMs = Date.now();
    const previousHash = nowMs < candidate.previousEndsAtMs ? candidate.previousHash : undefined;
    if (!hashMatchesAny(hash, candidate.hash, previousHash)) throw refused(refusal);
    const { keyId, expiresAt, readOnly, policyIds, rotations } = candidate;
    const isCurrent = hash === candidate.hash;
    // Only a caller who has the secret learns that the key exists and has expired.
    if (expiresAt !== undefined && nowMs >= candidate.expiresAtMs) throw refusedAsExpired(expiresAt);
    const finish = (principal: Principal | undefined): Identity => {
      if (principal === undefined) throw refused(refusal);
      if (!principal.active) throw new UserError(ownerInactive, { owner: principal.id });
      if (isUse) uses.note(keyId);
      const identity: Identity = {
        principal,
        keyId,
        readOnly,
        endsAtMs: isCurrent ? candidate.expiresAtMs : Math.min(candidate.expiresAtMs, candidate.previousEndsAtMs),
        rotation: isCurrent ? rotations : rotations - 1,
        policyIds,
        again: (isUseAgain) => lookAgain(identity, isUseAgain),
      };
      return identity;
    };
    /** A key and an owner that are the same objects as before have not changed: in memory they are replaced, never changed. */
    const lookAgain = (identity: Identity, isUseAgain: boolean): Awaitable<Identity> =>
      whenReady(keys.find(keyId), (now) => {
        if (now !== candidate || !isTimeless(now)) return identify(now, hash, refusal, isUseAgain);
        return whenReady(ownerOf(now), (owner) => {
          if (owner !== identity.principal) return identify(now, hash, refusal, isUseAgain);
          if (isUseAgain) uses.note(keyId);
          return identity;
        });
      });
    return whenReady(ownerOf(candidate), finish);
  };

  return {
    authenticate(token) {
      if (isIssued(token)) {
        const candidate = keys.find(`${apiKeys.prefix}_${token.slice(0, bodyLength)}`);
        const finish = (found: Candidate) => identify(found, hashOf(token), tokenUnknown, true);
        return whenReady(candidate, finish);
      }
      // Too short for a token that an operator may choose: nothing to look up.
      if (token.length < shortestChosen) throw refused(tokenMalformed);
      return keys.findChosen(token).then((found) => identify(found, hashOf(token), tokenMalformed, true));
    },
    hashOf,
    authenticateAgain: (keyId, hash, isUse) =>
      whenReady(keys.find(keyId), (found) => identify(found, hash, tokenUnknown, isUse)),
  };
}

/** True where no secret of the key ends by itself. */
function isTimeless({ expiresAt, previousHash }: Candidate): boolean {
  return expiresAt === undefined && previousHash === undefined;
}

/** The hash under which the token is stored: of its secret, or of the whole where an operator chose it. */
function hashOf(token: string): string {
  return hashSecret(isIssued(token) ? token.slice(bodyLength + 1) : token);
}

/** True for a token of the form that the service issues: the body of the key's id, and the secret. */
function isIssued(token: string): boolean {
  return (
    token.length === bodyLength + 1 + secretLength &&
    token[bodyLength] === '_' &&
    isBase62(token, 0, bodyLength) &&
    isBase62(token, bodyLength + 1)
  );
}

/** Keys by id, and ids by the hash of a chosen token. */
class KeyCache {
  readonly #store: Store;
  readonly #known = new BoundedCache<string, Candidate>(cacheSize);
  readonly #unknown = new BoundedCache<string, Candidate>(cacheSize);
  /** A chosen token belongs to one key for ever. */
  readonly #idOfChosen = new BoundedCache<string, string>(cacheSize);

  constructor(store: Store) {
    this.#store = store;
    store.follow({
      changed: (changes) => {
        for (const { kind, id } of changes) {
          if (kind !== apiKeys.kind) continue;
          this.#known.drop(id);
          this.#unknown.drop(id);
        }
      },
      reset: () => {
        this.#known.clear();
        this.#unknown.clear();
      },
    });
  }

  find(id: string): Awaitable<Candidate> {
    // A stale cache may still hold a key that another process has revoked.
    const cached = this.#store.isStale ? undefined : (this.#known.get(id) ?? this.#unknown.get(id));
    if (cached !== undefined) return ready(cached);
    const tickets = [this.#known.ticket(), this.#unknown.ticket()] as const;
    const keep = ([row]: readonly Row[]) => {
      const candidate = row === undefined ? nobody : toCandidate(row);
      if (candidate === nobody) this.#unknown.fill(tickets[1], id, candidate);
      else this.#known.fill(tickets[0], id, candidate);
      return candidate;
    };
    const rows = this.#store.queries.all('SELECT document, secret_hash, previous_hash FROM api_keys WHERE id = $1', [
      id,
    ]);
    return rows.then(keep);
  }

  async findChosen(token: string): Promise<Candidate> {
    const hash = hashSecret(token);
    const known = this.#idOfChosen.get(hash);
    if (known !== undefined) return this.find(known);
    const [row] = await this.#store.queries.all('SELECT id FROM api_keys WHERE token_hash = $1', [hash]);
    if (row === undefined) return nobody;
    this.#idOfChosen.set(hash, String(row[0]));
    return this.find(String(row[0]));
  }
}

function toCandidate(row: Row): Candidate {
  const key = apiKeys.parse(row);
  const [, hash, previousHash] = row;
  return {
    keyId: key.id,
    accountId: key.account_id,
    ownerId: key.owner_id,
    hash: String(hash),
    previousHash: typeof previousHash === 'string' ? previousHash : undefined,
    previousEndsAtMs: key.previous_token_expires_at === undefined ? 0 : Date.parse(key.previous_token_expires_at),
    rotations: key.rotations ?? 0,
    expiresAt: key.expires_at,
    expiresAtMs: key.expires_at === undefined ? Infinity : Date.parse(key.expires_at),
    readOnly: key.read_only ?? false,
    policyIds: key.ip_policy_ids ?? noPolicies,
  };
}
