import type { Call } from '../../api/call.ts';
import { withText } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { UserError } from '../../errors/user-error.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { nameUsers } from '../name-users.ts';
import { createReferable } from '../references.ts';
import type { Referable } from '../references.ts';
import type { ResourceContext } from '../resource.ts';
import { backendInUse } from '../static-backends/errors.ts';
import type { GroupKind } from './kinds.ts';
import { checkMembers } from './members.ts';
import type { GroupBackend } from './table.ts';

export interface GroupChange<Members> extends TextFields {
  readonly backends?: Members;
}

export function groupReferable<Members>({ path, section, table }: GroupKind<Members>): Referable {
  return createReferable({ kind: 'backend', path, table: section, documents: table });
}

/** The writes of single calls and of configurations. */
export function groupWrites<Members>(
  kind: GroupKind<Members>,
  referable: Referable,
  { referables }: Pick<ResourceContext, 'referables'>,
) {
  const { table, idsOf } = kind;
  const check = async (transaction: Transaction, accountId: string, id: string | undefined, members: Members) => {
    await checkMembers(transaction, referables, { id, accountId }, idsOf(members));
    kind.check(members);
  };
  return {
    async create(
      transaction: Transaction,
      { caller: { accountId }, body, newId }: Call<TextFields & { readonly backends: Members }>,
    ): Promise<GroupBackend<Members>> {
      await check(transaction, accountId, undefined, body.backends);
      const first = { ...table.newDocument(accountId, newId), backends: body.backends };
      const group = await table.insert(transaction, withText(first, body));
      await referables.set(transaction, 'backend', group.id, idsOf(group.backends), { isNew: true });
      return group;
    },
    async update(
      transaction: Transaction,
      { body }: Pick<Call<GroupChange<Members>>, 'body'>,
      previous: GroupBackend<Members>,
    ): Promise<GroupBackend<Members>> {
      // Official clients send {} and [] for what was not given.
      const isGiven = body.backends !== undefined && idsOf(body.backends).length > 0;
      const backends = isGiven ? body.backends : previous.backends;
      if (isGiven) await check(transaction, previous.account_id, previous.id, backends);
      const group = await table.update(transaction, previous, withText({ ...previous, backends }, body));
      if (group !== previous) await referables.set(transaction, 'backend', group.id, idsOf(group.backends));
      return group;
    },
    async remove(transaction: Transaction, group: GroupBackend<Members>): Promise<void> {
      const users = await referable.referrersOf(transaction, group.id);
      if (users.length > 0)
        throw new UserError(backendInUse, {
          backend: group.id,
          users: await nameUsers(transaction, group.account_id, users),
        });
      await referables.set(transaction, 'backend', group.id, []);
      await table.delete(transaction, group);
    },
  };
}
