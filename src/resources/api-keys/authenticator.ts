import { refused } from '../../api/bearer.ts';
import type { Authenticator, Identity } from '../../api/caller.ts';
import { UserError } from '../../errors/user-error.ts';
import { BoundedCache } from '../../lib/bounded-cache.ts';
import { hashSecret, secretMatches } from '../../lib/secrets.ts';
import type { Awaitable, Row } from '../../store/database.ts';
import type { Store } from '../../store/store.ts';
import type { Principals } from '../resource.ts';
import { apiKeys } from './table.ts';

/** What is known of a token's first part; `hash` is undefined where there is no such key. */
interface Candidate {
  readonly keyId: string;
  readonly accountId: string;
  readonly ownerId: string;
  readonly hash: Buffer | undefined;
}

const cacheSize = 20_000;
const issuedForm = /^([0-9A-Za-z]{27})_([0-9A-Za-z]{43})$/;
const shortestChosen = 32;

const byIdSql = 'SELECT document, secret_hash FROM api_keys WHERE id = $1';
const byTokenSql = 'SELECT document, secret_hash FROM api_keys WHERE token_hash = $1';

const nobody: Candidate = { keyId: '', accountId: '', ownerId: '', hash: undefined };

/**
 * Token → key → principal, from memory. What is unknown is remembered as well, in a memory of its own, so that an
 * unknown key and a wrong secret take the same path and the same time.
 */
export function createAuthenticator(store: Store, principals: () => Principals): Authenticator {
  const known = new BoundedCache<string, Candidate>(cacheSize);
  const unknown = new BoundedCache<string, Candidate>(cacheSize);
  store.follow((changes) => {
    for (const { kind, id, after } of changes) {
      if (kind !== 'api_key') continue;
      known.drop(id);
      unknown.drop(id);
      // Keys with a chosen token are remembered by its hash, which the change does not tell; they are few.
      if (after === null) known.clear();
    }
  });

  const find = (sql: string, look: string): Awaitable<Candidate> => {
    // A key that another process has revoked must not live on in a memory that has not heard of it.
    const cached = store.isStale ? undefined : (known.get(look) ?? unknown.get(look));
    if (cached !== undefined) return cached;
    const tickets = [known.ticket(), unknown.ticket()] as const;
    const keep = (rows: readonly Row[]) => {
      const candidate = rows[0] === undefined ? nobody : toCandidate(rows[0]);
      if (candidate === nobody) unknown.fill(tickets[1], look, candidate);
      else known.fill(tickets[0], look, candidate);
      return candidate;
    };
    const rows = store.queries.all(sql, [look]);
    return rows instanceof Promise ? rows.then(keep) : keep(rows);
  };

  const identify = (candidate: Candidate, secret: string, refusal: 202 | 203): Awaitable<Identity> => {
    if (!secretMatches(secret, candidate.hash)) throw refused(refusal);
    const owner = principals().find(candidate.accountId, candidate.ownerId);
    const finish = (principal: Awaited<typeof owner>): Identity => {
      if (principal === undefined) throw refused(refusal);
      if (!principal.active) throw new UserError(636, { owner: principal.id });
      return { principal, keyId: candidate.keyId };
    };
    return owner instanceof Promise ? owner.then(finish) : finish(owner);
  };

  return {
    authenticate(token) {
      const [, body, secret] = issuedForm.exec(token) ?? [];
      const chosen = body === undefined || secret === undefined;
      // Too short for any token: nothing to look up.
      if (chosen && token.length < shortestChosen) throw refused(202);
      const candidate = chosen
        ? find(byTokenSql, hashSecret(token).toString('hex'))
        : find(byIdSql, `${apiKeys.prefix}_${body}`);
      const finish = (found: Candidate) => identify(found, secret ?? token, chosen ? 202 : 203);
      return candidate instanceof Promise ? candidate.then(finish) : finish(candidate);
    },
  };
}

function toCandidate(row: Row): Candidate {
  const { id, account_id, owner_id } = apiKeys.parse(row);
  return { keyId: id, accountId: account_id, ownerId: owner_id, hash: Buffer.from(String(row[1]), 'hex') };
}
