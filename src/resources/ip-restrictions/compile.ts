import type { Compiler } from '../../publisher/compiler.ts';
import type { RestrictionEntry } from '../../snapshot/contract.ts';
import { ipRestrictions } from './table.ts';
import type { IpRestriction } from './table.ts';

export const restrictionCompiler: Compiler = {
  kind: 'restriction',
  affectedIds: ({ kind, id }) => (kind === ipRestrictions.kind ? [id] : []),
  async load(queries, ids) {
    const documents = await ipRestrictions.loadMany(queries, ids);
    return documents.map(toEntry);
  },
};

function toEntry({ id, account_id, type, enforced, ip_policy_ids }: IpRestriction): RestrictionEntry {
  return { kind: 'restriction', id, accountId: account_id, type, enforced, policyIds: ip_policy_ids };
}
