import { isBase62 } from '../../lib/base62.ts';
import { secretMatchesAny } from '../../lib/secrets.ts';
import type { Store } from '../../store/store.ts';
import { principals } from '../principals/service.ts';
import type { Services } from '../services.ts';
import { Acl } from './acl.ts';
import type { AgentCredential, AgentCredentials, CredentialVerdict } from './service.ts';
import { credentials } from './table.ts';
import type { Credential } from './table.ts';

/** The form of a token of the hosted service: a proper one, which no credential here has. */
const isOfOtherServer = /^[A-Za-z0-9]{15,60}_[A-Za-z0-9]{10,60}$/;
const bodyLength = 27;
const secretLength = 43;

export function createAgentCredentials(store: Store, services: Services): AgentCredentials {
  // An agent serves something, which a viewer may not.
  const ownerMayServe = async ({ account_id, owner_id }: Credential) => {
    const owner = await services.get(principals).find(account_id, owner_id);
    return owner?.active === true && owner.role !== 'viewer';
  };
  return {
    async authenticate(token): Promise<CredentialVerdict> {
      if (!isIssued(token)) return { verdict: isOfOtherServer.test(token) ? 'unknown' : 'malformed' };
      // Not from memory: agents come seldom, and a credential that another process has deleted must not let one in.
      const [row] = await store.queries.all('SELECT document, secret_hash FROM credentials WHERE id = $1', [
        `${credentials.prefix}_${token.slice(0, bodyLength)}`,
      ]);
      const hash = row === undefined ? undefined : String(row[1]);
      if (!secretMatchesAny(token.slice(bodyLength + 1), hash, undefined) || row === undefined)
        return { verdict: 'unknown' };
      const credential = credentials.parse(row);
      if (!(await ownerMayServe(credential))) return { verdict: 'inactive_owner' };
      return { verdict: 'valid', credential: toAgentCredential(credential) };
    },
    async find(accountId, id) {
      const credential = await store.find(credentials, accountId, id);
      if (credential === undefined || !(await ownerMayServe(credential))) return undefined;
      return toAgentCredential(credential);
    },
    async deleteOwnedBy(transaction, accountId, ownerId) {
      const sql = 'SELECT document FROM credentials WHERE account_id = $1 AND owner_id = $2';
      const rows = await transaction.all(sql, [accountId, ownerId]);
      for (const row of rows) await credentials.delete(transaction, credentials.parse(row));
    },
  };
}

function toAgentCredential({ id, account_id, owner_id, acl }: Credential): AgentCredential {
  return { id, accountId: account_id, ownerId: owner_id, acl: new Acl(acl) };
}

function isIssued(token: string): boolean {
  return (
    token.length === bodyLength + 1 + secretLength &&
    token[bodyLength] === '_' &&
    isBase62(token, 0, bodyLength) &&
    isBase62(token, bodyLength + 1)
  );
}
