import { notAnIpPolicyId } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { toTimestamp } from '../../lib/ids.ts';
import { parseTimestamp } from '../../lib/timestamps.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { restrictionPolicyNotFound } from '../ip-restrictions/errors.ts';
import type { Referables } from '../references.ts';
import { invalidExpiry } from './errors.ts';
import type { ApiKey, KeyLimits } from './table.ts';

interface LimitInput {
  readonly expires_at?: string;
  readonly ip_policy_ids?: readonly string[];
  readonly read_only?: boolean;
}

/** Applies the limits of a request: absent keeps a limit; `""`, `[]` and `false` remove it. */
export function withLimits<Document extends object>(document: Document, input: LimitInput): Document & KeyLimits {
  const { expires_at, ip_policy_ids, read_only, ...rest }: Document & KeyLimits = document;
  const expiry = input.expires_at === undefined ? expires_at : acceptExpiry(input.expires_at, expires_at);
  const policies = input.ip_policy_ids ?? ip_policy_ids ?? [];
  const limits: KeyLimits = {
    ...(expiry === undefined ? {} : { expires_at: expiry }),
    ...(policies.length === 0 ? {} : { ip_policy_ids: policies }),
    ...((input.read_only ?? read_only) === true ? { read_only: true } : {}),
  };
  // Only the limits differ from the document.
  return { ...rest, ...limits } as Document & KeyLimits;
}

/** A time that is stored already may be sent back, also once it is over. */
function acceptExpiry(text: string, stored: string | undefined): string | undefined {
  if (text === '') return undefined;
  const ms = parseTimestamp(text);
  const refuse = (reason: string) => new UserError(invalidExpiry, { value: quote(text), reason });
  if (ms === undefined) throw refuse('is not a time in UTC');
  const accepted = toTimestamp(ms);
  if (accepted === stored) return stored;
  if (Date.parse(accepted) <= Date.now()) throw refuse('is not in the future');
  return accepted;
}

/** Checks the policies of a key, and keeps them from being deleted. */
export async function syncPolicies(
  referables: Referables,
  transaction: Transaction,
  { id, account_id, ip_policy_ids = [] }: ApiKey,
): Promise<void> {
  const field = 'ip_policy_ids';
  referables.check(
    'ip_policy',
    field,
    ip_policy_ids,
    (each) => new UserError(notAnIpPolicyId, { field, id: quote(each) }),
  );
  for (const policyId of ip_policy_ids) {
    if (!(await referables.exists(transaction, 'ip_policy', account_id, policyId)))
      throw new UserError(restrictionPolicyNotFound, { id: policyId });
  }
  await referables.set(transaction, 'ip_policy', id, ip_policy_ids);
}
