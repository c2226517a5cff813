import type { Call } from '../../api/call.ts';
import { withText } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { UserError } from '../../errors/user-error.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { nameUsers } from '../name-users.ts';
import { createReferable } from '../references.ts';
import { textsToSet } from '../configuration-kind.ts';
import { acceptBalance } from './balance.ts';
import type { BalanceInput } from './balance.ts';
import { defaults } from './balance-schema.ts';
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

export interface BackendUpdate extends TextFields, BalanceInput {
  readonly tls?: { readonly enabled?: boolean };
}

/** The writes of single calls and of configurations. */
export const staticBackendWrites = {
  async create(transaction: Transaction, call: Call<BackendUpdate>) {
    const { caller, body } = call;
    const first = staticBackends.newDocument(caller.accountId, call.newId);
    const settings = { ...acceptBalance(body, {}), tls: { enabled: body.tls?.enabled ?? false } };
    return staticBackends.insert(transaction, withText({ ...first, ...settings }, body));
  },

  async update(transaction: Transaction, { body }: Call<BackendUpdate>, previous: StaticBackend) {
    // Official clients send "" and {} for what was not given.
    const { id, account_id, created_at, description, metadata } = previous;
    const changed = {
      id,
      account_id,
      created_at,
      ...(description === undefined ? {} : { description }),
      ...(metadata === undefined ? {} : { metadata }),
      ...acceptBalance(body, previous),
      tls: { enabled: body.tls?.enabled ?? previous.tls.enabled },
    };
    return staticBackends.update(transaction, previous, withText(changed, body));
  },

  /** As `update`, but what is not given is set back. */
  replace(transaction: Transaction, call: Call<BackendUpdate>, previous: StaticBackend) {
    const { body } = call;
    const bare = {
      addresses: [],
      balance: { by: 'round_robin' },
      retries: defaults.retries,
      when_all_down: defaults.whenAllDown,
      slow_start_seconds: 0,
      passive_check: { enabled: false },
      active_check: { enabled: false },
      tls: { enabled: false },
    };
    return staticBackendWrites.update(
      transaction,
      { ...call, body: { ...bare, ...textsToSet(body), ...body } },
      previous,
    );
  },

  async remove(transaction: Transaction, _call: Call, backend: StaticBackend): Promise<void> {
    const users = await referable.referrersOf(transaction, backend.id);
    if (users.length > 0)
      throw new UserError(backendInUse, {
        backend: backend.id,
        users: await nameUsers(transaction, backend.account_id, users),
      });
    await staticBackends.delete(transaction, backend);
  },
};
