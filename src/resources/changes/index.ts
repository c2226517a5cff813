import { Type } from 'typebox';

import { operation } from '../../api/operation.ts';
import { mapInTurns } from '../../lib/map-in-turns.ts';
import { pageSchema, presentPage } from '../../api/list-page.ts';
import type { Operation } from '../../api/operation.ts';
import { adminsMay } from '../../api/admission/rights.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { accountChanges, presentChange } from './logged-changes.ts';
import { filterFields, filters, idOf, prefix, readPage } from './log-page.ts';
import type { LoggedRow } from './log-page.ts';
import { Revert, RevertedChange, revertOperation } from './revert.ts';
import { loggedChanges } from './service.ts';

const path = '/changes';

const document = (description: string) =>
  Type.Unsafe<unknown>({ type: ['object', 'null'], additionalProperties: true, description });

const Change = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the change.' }),
    version: Type.Integer({ description: 'The version of the configuration that it made.' }),
    created_at: Type.String({ format: 'date-time', description: 'When, RFC 3339.' }),
    actor: Type.String({
      description:
        'The User or Bot that made it, "host" for the command line of the machine, or "provider" for groups at the identity provider.',
    }),
    operation_id: Type.String({ description: 'The call that made it, as in the answer and the log of the server.' }),
    source: Type.Optional(
      Type.String({
        description: 'The address that the call came from. Absent: it was made on the host, or by an older version.',
      }),
    ),
    key_id: Type.Optional(
      Type.String({ description: 'The API key of the call, or the one that its dashboard session was begun with.' }),
    ),
    scope: Type.Optional(
      Type.String({
        enum: ['api', 'dashboard'],
        description: 'api: a call with the key. dashboard: one of a session.',
      }),
    ),
    action: Type.String({ enum: ['create', 'update', 'delete'], description: 'Kind of the change.' }),
    kind: Type.String({ description: 'The kind of the resource.', examples: ['ip_policy'] }),
    resource_id: Type.String({ description: 'Id of the resource.' }),
    before: document('The resource as it was, without secrets; null when it did not exist.'),
    after: document('The resource as it was from then on, without secrets; null when it is gone.'),
  },
  { $id: 'Change' },
);
const ChangesPage = pageSchema('Changes', 'changes', Type.Ref('Change'));

function listOperation({ store }: ResourceContext): Operation {
  return operation({
    method: 'GET',
    path,
    operationId: 'ChangesList',
    summary: 'List changes',
    description:
      'The audit log: who changed what, newest first. `kind`, `resource_id` and `actor` select by equality, `since` and ' +
      '`until` by time. A page looks through a limited number of changes: if few of them pass the filter, it may have fewer than `limit`, or none, and still have a `next_page_uri`.',
    tag: 'Changes',
    rights: adminsMay('read the list of changes'),
    listedPrefix: prefix,
    filterFields,
    filters: Object.keys(filters),
    mayBeLarge: true,
    status: 200,
    response: ChangesPage,
    errors: [],
    handle: async (call) => {
      const { changes, cursor } = await readPage(store, call.caller.accountId, call);
      return presentPage(call, path, 'changes', await mapInTurns(changes, present), cursor && idOf(cursor));
    },
  });
}

function present({ row, before, after }: LoggedRow) {
  return presentChange(row, before, after);
}

export const changesResource: Resource = {
  migrations: [
    {
      name: '0013 change log by account',
      sql: `
        CREATE INDEX change_log_by_account ON change_log (account_id, version, position);
        CREATE INDEX change_log_by_resource ON change_log (account_id, resource_id, version, position);
        CREATE INDEX change_log_by_time ON change_log (at);
      `,
    },
  ],
  schemas: [Change, ChangesPage, RevertedChange, Revert],
  operations: (context) => [listOperation(context), revertOperation(context)],
  provide({ services }) {
    services.provide(loggedChanges, accountChanges);
  },
};
