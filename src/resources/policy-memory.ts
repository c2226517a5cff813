import { policiesTooLarge } from '../errors/shared.ts';
import { UserError } from '../errors/user-error.ts';
import type { Queries } from '../store/database.ts';
import type { Transaction } from '../store/write/transaction.ts';

/** The quota of what the traffic policies of an account take, once they are built, in every process that carries traffic. */
export const policyQuota = 'traffic_policy_kib';
/** The column in which each row has its part of it; triggers sum them up. */
export const policyColumn = 'policy_kib';
export const policyTables = ['tcp_edges', 'tls_edges', 'https_edge_routes', 'cloud_endpoints', 'tunnels'] as const;
export type PolicyTable = (typeof policyTables)[number];

/** Notes how much the policies of a row take, which has been written. Throws `UserError` where the account may not have so much. */
export async function countPolicies(
  writer: Pick<Transaction, 'run'> & Queries,
  table: PolicyTable,
  { id, account_id: account }: { readonly id: string; readonly account_id: string },
  kib: number,
): Promise<void> {
  const [row] = await writer.all(
    `SELECT t.${policyColumn}, u.used, u.most FROM ${table} t
     JOIN account_usage u ON u.account_id = t.account_id AND u.quota = $2 WHERE t.id = $1`,
    [id, policyQuota],
  );
  if (row === undefined) throw new Error(`there is no ${id} whose policies could be counted`);
  const [before = 0, used = 0, limit = 0] = row.map(Number);
  if (kib === before) return;
  const others = used - before;
  if (kib > before && others + kib > limit)
    throw new UserError(policiesTooLarge, { kib, others, limit, account, quota: policyQuota });
  await writer.run(`UPDATE ${table} SET ${policyColumn} = $2 WHERE id = $1`, [id, kib]);
}
