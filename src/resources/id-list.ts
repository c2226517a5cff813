import { duplicateEntry, notAnIpPolicyId } from '../errors/shared.ts';
import { quote, UserError } from '../errors/user-error.ts';
import { hasPrefix } from '../lib/ids.ts';

/** Ids of IP policies as a request names them: each of the right kind, none twice. */
export function checkPolicyIds(ids: readonly string[]): void {
  const seen = new Set<string>();
  for (const id of ids) {
    if (!hasPrefix(id, 'ipp')) throw new UserError(notAnIpPolicyId, { field: 'ip_policy_ids', id: quote(id) });
    if (seen.has(id)) throw new UserError(duplicateEntry, { field: 'ip_policy_ids', id });
    seen.add(id);
  }
}
