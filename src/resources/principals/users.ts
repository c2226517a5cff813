import { Type } from 'typebox';
import type { Static } from 'typebox';

import type { Call } from '../../api/call.ts';
import { crudOperations } from '../../api/crud.ts';
import { adminOnly } from '../../api/errors.ts';
import { booleanIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { reverterOf } from '../../api/reverter.ts';
import { UserError } from '../../errors/user-error.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { Queries } from '../../store/database.ts';
import { rowsOf } from '../../store/rows-of.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { apiKeyOwners } from '../api-keys/service.ts';
import type { ResourceContext } from '../resource.ts';
import { otherUser, ownRole } from './errors.ts';
import {
  checkPerson,
  personEmail,
  personErrors,
  personFilterFields,
  personName,
  personRole,
  withPerson,
} from './people.ts';
import { endWhatStaysEnded } from './ended-by-deactivation.ts';
import { principals } from './service.ts';
import { users } from './table.ts';
import type { User } from './table.ts';

const path = '/users';
const active = Type.Boolean({
  description: 'false: the API keys, dashboard sessions and agents of the user are refused, at once.',
});

export const UserView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the user.' }),
    uri: Type.String({ description: "URI of this user's resource." }),
    created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
    name: personName,
    email: Type.Optional(personEmail),
    role: personRole,
    active,
    sign_in: Type.Optional(
      Type.Object(
        {
          issuer: Type.String({ description: 'The URL that the provider is known by.' }),
          subject: Type.String({ description: 'The id of the person there.' }),
          role_by_group: Type.Boolean({
            description: 'true: the role comes from groups there. Each sign-in, and each check of a session, sets it.',
          }),
        },
        {
          description: 'The user at the identity provider of the installation. Absent until the first sign-in with it.',
        },
      ),
    ),
    api_keys: Type.Integer({ description: 'How many API keys the user has.' }),
    last_seen_at: Type.Optional(
      Type.String({
        format: 'date-time',
        description:
          'When one of these keys, or a session of the dashboard, was last used; of those of an identity provider when that was last asked. Absent: never.',
      }),
    ),
  },
  { $id: 'User' },
);
export const UserUpdate = Type.Object(
  {
    name: Type.Optional(personName),
    email: Type.Optional(personEmail),
    role: Type.Optional(personRole),
    active: Type.Optional(active),
  },
  { $id: 'UserUpdate', additionalProperties: false },
);

/** Users are made by invitations or on the host, and stay: whoever has left is deactivated, so that the log keeps a name. */
export function userOperations({ store, services }: ResourceContext): readonly Operation[] {
  const crud = {
    store,
    table: users,
    path,
    noun: 'user',
    plural: 'users',
    name: 'Users',
    tag: 'Users',
    listKey: 'users',
    rights: { read: 'everyone', write: 'owner' },
    filterFields: { ...personFilterFields, active: booleanIn('active') },
    view: UserView,
    createBody: Type.Object({}),
    updateBody: UserUpdate,
    errors: { create: [], update: [...personErrors, otherUser, ownRole, adminOnly], delete: [] },
    create: () => Promise.reject(new Error('users are not created by a call')),
    async update(transaction: Transaction, call: Call<Static<typeof UserUpdate>>, previous: User): Promise<User> {
      const { body } = call;
      const person = withPerson(previous, body);
      const changed: User = { ...person, active: body.active ?? previous.active };
      await authorize(transaction, call, previous, changed);
      await checkPerson(transaction, changed);
      await endWhatStaysEnded(transaction, services, previous, changed);
      return users.update(transaction, previous, changed);
    },
    remove: () => Promise.reject(new Error('users are not deleted by a call')),
    whyStays: 'a user stays. Deactivate the user instead',
    async presentAll(queries: Queries, all: readonly User[], { uri }: Call): Promise<readonly object[]> {
      const ids = all.map(({ id }) => id);
      const uses = await services.get(apiKeyOwners).usesBy(queries, ids);
      const seen = await seenAt(queries, ids);
      return all.map(({ account_id: _account, ...user }) => ({
        ...user,
        uri: uri(`${path}/${user.id}`),
        api_keys: uses.get(user.id)?.keys ?? 0,
        last_seen_at: latest(uses.get(user.id)?.lastUsedAt, seen.get(user.id)),
      }));
    },
  } as const;
  return crudOperations(crud).flatMap((each) => {
    if (each.method === 'GET') return [each];
    return each.method === 'PATCH' ? [{ ...each, reverter: reverterOf(crud) }] : [];
  });

  /**
   * Everybody has their own name; the rest is for admins, and one's own role for nobody. The caller is looked at as the
   * transaction finds them: two admins who demote each other at once do not both succeed, and one of them stays.
   */
  async function authorize(transaction: Transaction, { caller }: Call, before: User, after: User): Promise<void> {
    const { accountId, principal } = caller;
    const now = await services.get(principals).load(transaction, accountId, principal.id);
    const isAdmin = now?.active === true && now.role === 'admin';
    const isOwn = principal.id === before.id;
    if (!isAdmin && !isOwn) throw new UserError(otherUser, { user: before.id });
    const changesRights = before.role !== after.role || before.active !== after.active;
    if (isOwn && changesRights) throw new UserError(ownRole);
    if (!isAdmin && before.email !== after.email)
      throw new UserError(adminOnly, { action: 'change an e-mail address' });
  }
}

/** When users were last seen who have signed in with a provider. */
async function seenAt(queries: Queries, ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
  const rows = await rowsOf(
    queries,
    ids,
    (places) => `SELECT id, seen_at_ms FROM users WHERE seen_at_ms IS NOT NULL AND id IN (${places})`,
  );
  return new Map(rows.map(([id, atMs]) => [String(id), toTimestamp(Number(atMs))]));
}

/** Timestamps are ordered as texts. */
function latest(one: string | undefined, other: string | undefined): string | undefined {
  return one === undefined || (other !== undefined && other > one) ? other : one;
}
