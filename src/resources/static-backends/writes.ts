import type { Call } from '../../api/call.ts';
import { withText } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { UserError } from '../../errors/user-error.ts';
import type { Transaction } from '../../store/write/group-commit.ts';
import { createReferable, listShort } from '../references.ts';
import { acceptAddress } from './address.ts';
import { backendInUse } from './errors.ts';
import { staticBackends } from './table.ts';
import type { StaticBackend } from './table.ts';

export const path = '/backends/static';
export const referable = createReferable({
  kind: 'backend',
  path,
  table: 'static_backends',
  documents: staticBackends,
});

interface BackendUpdate extends TextFields {
  readonly address?: string;
  readonly tls?: { readonly enabled?: boolean };
}

/** The writes of single calls and of configurations. */
export const staticBackendWrites = {
  async create(transaction: Transaction, call: Call<BackendUpdate & { readonly address: string }>) {
    const { caller, body } = call;
    const first = staticBackends.newDocument(caller.accountId, call.newId);
    const settings = { address: acceptAddress(body.address), tls: { enabled: body.tls?.enabled ?? false } };
    return staticBackends.insert(transaction, withText({ ...first, ...settings }, body));
  },
  async update(transaction: Transaction, { body }: Call<BackendUpdate>, previous: StaticBackend) {
    // Official clients send "" and {} for what was not given.
    const changed = {
      ...previous,
      address: acceptAddress(body.address || previous.address),
      tls: { enabled: body.tls?.enabled ?? previous.tls.enabled },
    };
    return staticBackends.update(transaction, previous, withText(changed, body));
  },
  async remove(transaction: Transaction, _call: Call, backend: StaticBackend): Promise<void> {
    const users = await referable.referrersOf(transaction, backend.id);
    if (users.length > 0) throw new UserError(backendInUse, { backend: backend.id, users: listShort(users) });
    await staticBackends.delete(transaction, backend);
  },
};
