import { UserError } from '../../errors/user-error.ts';
import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { cidrsContaining } from '../../lib/ip/cidr.ts';
import type { Queries } from '../../store/database.ts';
import type { Store } from '../../store/store.ts';
import type { LockoutGuard } from '../resource.ts';
import { wouldLockOut } from './errors.ts';
import { ipRestrictions } from './table.ts';

/** What may not shut the caller out. Traffic has its own addresses. */
const guardedType = 'api';

export function createLockoutGuard(store: Store): LockoutGuard {
  return {
    async check(transaction, { caller: { accountId, source }, allowLockout }) {
      if (allowLockout) return;
      const restriction = await findRefusal(transaction, accountId, source);
      if (restriction === undefined) return;
      // The id of one that is just being made means nothing to the caller, and will not exist.
      const isKnown = (await store.find(ipRestrictions, accountId, restriction)) !== undefined;
      throw new UserError(wouldLockOut, {
        address: formatIp(source),
        restriction: isKnown ? `the IP restriction ${restriction}` : 'this new IP restriction',
      });
    },
  };
}

/** The first enforced restriction that refuses the address, by the rules as they stand in the database. */
async function findRefusal(queries: Queries, accountId: string, source: IpAddress): Promise<string | undefined> {
  // Every range that contains the address, by name: an index look-up each, however many rules there are.
  const ranges = cidrsContaining(source);
  const places = ranges.map((_, at) => `$${at + 3}`).join(', ');
  const rows = await queries.all(
    `SELECT r.id, MAX(CASE WHEN p.action = 'allow' THEN 1 ELSE 0 END), MAX(CASE WHEN p.action = 'deny' THEN 1 ELSE 0 END)
     FROM ip_restrictions r
     LEFT JOIN ip_policies_uses u ON u.user_id = r.id
     LEFT JOIN ip_policy_rules p ON p.ip_policy_id = u.used_id AND p.cidr IN (${places})
     WHERE r.account_id = $1 AND r.type = $2 AND r.enforced = 1
     GROUP BY r.id ORDER BY r.id`,
    [accountId, guardedType, ...ranges],
  );
  const refusal = rows.find(([, allowed, denied]) => allowed !== 1 || denied === 1);
  return refusal && String(refusal[0]);
}
