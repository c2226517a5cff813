import { idBody } from '../../lib/ids.ts';
import { hashSecret, newSecret } from '../../lib/secrets.ts';
import type { Transaction } from '../../store/group-commit.ts';
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
  return `${idBody(key.id)}_${secret}`;
}

export const keysForOthers: ApiKeys = {
  async create(transaction, { accountId, ownerId, description, token }) {
    const key: ApiKey = { ...apiKeys.newDocument(accountId), description, owner_id: ownerId };
    return { id: key.id, token: await insertKey(transaction, key, token) };
  },
  async deleteOwnedBy(transaction, accountId, ownerId) {
    const sql = 'SELECT document FROM api_keys WHERE account_id = $1 AND owner_id = $2';
    const rows = await transaction.all(sql, [accountId, ownerId]);
    for (const row of rows) await apiKeys.delete(transaction, apiKeys.parse(row));
  },
};
