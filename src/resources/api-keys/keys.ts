import { withText } from '../../api/body/text-fields.ts';
import { idBody } from '../../lib/ids.ts';
import { hashSecret, newSecret } from '../../lib/secrets.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { Store } from '../../store/store.ts';
import { rowsOf } from '../../store/rows-of.ts';
import type { Referables } from '../references.ts';
import type { ApiKeys } from './service.ts';
import { apiKeys } from './table.ts';
import type { ApiKey } from './table.ts';

/** Stores the key with the hash of its token; the token itself is in the answer only. */
export async function insertKey(transaction: Transaction, key: ApiKey, chosenToken?: string): Promise<string> {
  if (chosenToken !== undefined) {
    const hash = hashSecret(chosenToken);
    await apiKeys.insert(transaction, key, [hash, hash]);
    return chosenToken;
  }
  const secret = newSecret();
  await apiKeys.insert(transaction, key, [hashSecret(secret), null]);
  return tokenOf(key, secret);
}

/** Stores the hash of a new secret; that of the old one is kept or dropped. Returns the new token. */
export async function replaceSecret(transaction: Transaction, key: ApiKey, keepsOld: boolean): Promise<string> {
  const secret = newSecret();
  const previous = keepsOld ? 'secret_hash' : 'NULL';
  const sql = `UPDATE api_keys SET previous_hash = ${previous}, secret_hash = $2 WHERE id = $1`;
  await transaction.run(sql, [key.id, hashSecret(secret)]);
  return tokenOf(key, secret);
}

function tokenOf({ id }: ApiKey, secret: string): string {
  return `${idBody(id)}_${secret}`;
}

export async function deleteKey(referables: Referables, transaction: Transaction, key: ApiKey): Promise<void> {
  if (key.ip_policy_ids !== undefined) await referables.set(transaction, 'ip_policy', key.id, []);
  await apiKeys.delete(transaction, key);
}

export function createKeysForOthers(store: Store, referables: Referables): ApiKeys {
  return {
    async create(transaction, { accountId, ownerId, description, token }) {
      const key: ApiKey = withText({ ...apiKeys.newDocument(accountId), owner_id: ownerId }, { description });
      return { id: key.id, token: await insertKey(transaction, key, token) };
    },
    async deleteOwnedBy(transaction, accountId, ownerId) {
      const sql = 'SELECT document FROM api_keys WHERE account_id = $1 AND owner_id = $2';
      const rows = await transaction.all(sql, [accountId, ownerId]);
      for (const row of rows) await deleteKey(referables, transaction, apiKeys.parse(row));
    },
    async policiesOf(queries, keyId) {
      return (await apiKeys.load(queries, keyId))?.ip_policy_ids ?? [];
    },
    async usesBy(queries, ownerIds) {
      const rows = await rowsOf(
        queries,
        ownerIds,
        (places) => `
          SELECT k.owner_id, count(*), max(u.last_used_at) FROM api_keys k
          LEFT JOIN api_key_uses u ON u.account_id = k.account_id AND u.key_id = k.id
          WHERE k.owner_id IN (${places}) GROUP BY k.owner_id`,
      );
      return new Map(
        rows.map(([ownerId, keys, lastUsedAt]) => [
          String(ownerId),
          { keys: Number(keys), lastUsedAt: typeof lastUsedAt === 'string' ? lastUsedAt : undefined },
        ]),
      );
    },
    async descriptionOf(accountId, keyId) {
      return (await store.find(apiKeys, accountId, keyId))?.description;
    },
  };
}
