import type { RestrictionType } from '../../snapshot/contract.ts';
import type { Queries } from '../../store/database.ts';
import type { Past } from '../configuration-kind.ts';
import { ipRestrictions } from './table.ts';
import type { IpRestriction } from './table.ts';

/** Those that there were then. */
export async function pastRestrictionsOfType(
  queries: Queries,
  accountId: string,
  type: RestrictionType,
  past: Past,
): Promise<readonly IpRestriction[]> {
  const same = await past.unchanged(await restrictionsOfType(queries, accountId, type));
  // Documents of this kind are restrictions.
  const changed = [...past.changed(ipRestrictions.kind).values()].map((each) =>
    ipRestrictions.complete(each as IpRestriction),
  );
  return [...same, ...changed.filter((each) => each.type === type)];
}

export async function restrictionsOfType(
  queries: Queries,
  accountId: string,
  type: RestrictionType,
): Promise<readonly IpRestriction[]> {
  const sql = 'SELECT document FROM ip_restrictions WHERE account_id = $1 AND type = $2 ORDER BY id';
  return (await queries.all(sql, [accountId, type])).map((row) => ipRestrictions.parse(row));
}
