import type { PolicyProtector } from '../policy-protection.ts';

/** Keeps members and bots from opening, or closing, keys of others by the policies that these name. */
export const keyProtector: PolicyProtector = {
  async protectorOf(queries, { accountId, principal }, policyId) {
    const [row] = await queries.all(
      `SELECT k.id, k.owner_id FROM ip_policies_uses u JOIN api_keys k ON k.id = u.user_id
       WHERE u.used_id = $1 AND k.account_id = $2 AND k.owner_id <> $3 ORDER BY k.id LIMIT 1`,
      [policyId, accountId, principal.id],
    );
    return row && `the API key ${String(row[0])} of ${String(row[1])}`;
  },
};
