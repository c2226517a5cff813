import type { RestrictionType } from '../../snapshot/contract.ts';
import type { Queries } from '../../store/database.ts';
import { ipRestrictions } from './table.ts';
import type { IpRestriction } from './table.ts';

export async function restrictionsOfType(
  queries: Queries,
  accountId: string,
  type: RestrictionType,
): Promise<readonly IpRestriction[]> {
  const sql = 'SELECT document FROM ip_restrictions WHERE account_id = $1 AND type = $2 ORDER BY id';
  return (await queries.all(sql, [accountId, type])).map((row) => ipRestrictions.parse(row));
}
