import type { Store } from '../../store/store.ts';
import type { IpRestrictions } from '../resource.ts';
import { ipRestrictions } from './table.ts';

export function createRestrictionSearch(store: Store): IpRestrictions {
  return {
    async ofType(accountId, type) {
      const rows = await store.queries.all(
        'SELECT document FROM ip_restrictions WHERE account_id = $1 AND type = $2 ORDER BY id',
        [accountId, type],
      );
      return rows.map((row) => ipRestrictions.parse(row));
    },
  };
}
