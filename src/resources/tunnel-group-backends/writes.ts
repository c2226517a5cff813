import type { Call } from '../../api/call.ts';
import { withText } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { UserError } from '../../errors/user-error.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { labelsFault } from '../labels.ts';
import type { Labels } from '../labels.ts';
import { nameUsers } from '../name-users.ts';
import { createReferable } from '../references.ts';
import { invalidLabels, tunnelGroupInUse } from './errors.ts';
import { tunnelGroupBackends } from './table.ts';
import type { TunnelGroupBackend } from './table.ts';

export const path = '/backends/tunnel_group';
export const referable = createReferable({
  kind: 'backend',
  path,
  table: 'tunnel_group_backends',
  documents: tunnelGroupBackends,
});

/** The writes of single calls and of configurations. */
export const tunnelGroupWrites = {
  async create(transaction: Transaction, { caller, body, newId }: Call<TextFields & { readonly labels: Labels }>) {
    const first = { ...tunnelGroupBackends.newDocument(caller.accountId, newId), labels: acceptLabels(body.labels) };
    return tunnelGroupBackends.insert(transaction, withText(first, body));
  },
  async update(
    transaction: Transaction,
    { body }: Call<TextFields & { readonly labels?: Labels }>,
    previous: TunnelGroupBackend,
  ) {
    // Official clients send {} for what was not given.
    const isGiven = body.labels !== undefined && Object.keys(body.labels).length > 0;
    const changed = { ...previous, labels: isGiven ? acceptLabels(body.labels) : previous.labels };
    return tunnelGroupBackends.update(transaction, previous, withText(changed, body));
  },
  async remove(transaction: Transaction, _call: Call, backend: TunnelGroupBackend): Promise<void> {
    const users = await referable.referrersOf(transaction, backend.id);
    if (users.length > 0)
      throw new UserError(tunnelGroupInUse, {
        backend: backend.id,
        users: await nameUsers(transaction, backend.account_id, users),
      });
    await tunnelGroupBackends.delete(transaction, backend);
  },
};

function acceptLabels(given: Labels): Labels {
  const fault = labelsFault(given);
  if (fault !== undefined) throw refuseLabels(fault);
  return given;
}

export function refuseLabels(reason: string): UserError {
  return new UserError(invalidLabels, { reason, example: '{"app":"shop"}' });
}
