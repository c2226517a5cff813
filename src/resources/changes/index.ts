import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { nullable } from '../../api/crud.ts';
import { wrongIdKind } from '../../api/errors.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { nextPageQuery } from '../../api/query.ts';
import { adminsMay } from '../../api/rights.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { Row, Value } from '../../store/database.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { invalidTime } from './errors.ts';
import * as errors from './errors.ts';

const path = '/changes';
const prefix = 'chg';
/** An id is the version and the position in it, in digits, so that ids sort in the order of changes. */
const versionDigits = 15;
const positionDigits = 6;

/** SQL conditions by query parameter. */
const filters = {
  kind: 'kind = ',
  resource_id: 'resource_id = ',
  actor: 'actor = ',
  since: 'at >= ',
  until: 'at <= ',
} as const;

const document = (description: string) =>
  Type.Unsafe<unknown>({ type: ['object', 'null'], additionalProperties: true, description });

const Change = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the change.' }),
    version: Type.Integer({ description: 'The version of the configuration that it made.' }),
    created_at: Type.String({ format: 'date-time', description: 'When, RFC 3339.' }),
    actor: Type.String({ description: 'The User or Bot that made it, or "host" for the command line of the machine.' }),
    operation_id: Type.String({ description: 'The call that made it, as in the answer and the log of the server.' }),
    action: Type.String({ enum: ['create', 'update', 'delete'], description: 'What happened to the resource.' }),
    kind: Type.String({ description: 'The kind of the resource.', examples: ['ip_policy'] }),
    resource_id: Type.String({ description: 'Id of the resource.' }),
    before: document('The resource as it was, without secrets; null when it did not exist.'),
    after: document('The resource as it was from then on, without secrets; null when it is gone.'),
  },
  { $id: 'Change' },
);
const ChangesPage = Type.Object(
  {
    changes: Type.Array(Type.Ref('Change'), { description: 'The entries of this page, newest first.' }),
    uri: Type.String({ description: 'URI of the list resource.' }),
    next_page_uri: nullable('string', 'URI of the next page, or null when there is no next page.'),
  },
  { $id: 'ChangesPage' },
);

function listOperation({ store }: ResourceContext): Operation {
  return operation({
    method: 'GET',
    path,
    operationId: 'ChangesList',
    summary: 'List changes',
    description:
      'The audit log: who changed what, newest first. `kind`, `resource_id` and `actor` select by equality, `since` and ' +
      '`until` by time.',
    tag: 'Changes',
    rights: adminsMay('read the list of changes'),
    listedPrefix: prefix,
    filters: Object.keys(filters),
    status: 200,
    response: ChangesPage,
    errors: [invalidTime],
    handle: async (call) => {
      const { caller, page, uri } = call;
      const { sql, values } = condition(call);
      const rows = await store.queries.all(
        `SELECT version, position, at, actor, operation_id, kind, resource_id, before, after FROM change_log
         WHERE account_id = $1 AND (version < $2 OR (version = $2 AND position < $3))${sql}
         ORDER BY version DESC, position DESC LIMIT $4`,
        [caller.accountId, ...cursor(page.beforeId), page.limit + 1, ...values],
      );
      const changes = rows.slice(0, page.limit).map(present);
      const last = changes.at(-1);
      const next =
        rows.length > page.limit && last !== undefined ? nextPageQuery(last.id, page, call.filters) : undefined;
      return { changes, uri: uri(path), next_page_uri: next === undefined ? null : uri(`${path}${next}`) };
    },
  });
}

function condition({ filters: given }: Call): { readonly sql: string; readonly values: readonly Value[] } {
  const entries = Object.entries(given);
  for (const [name, value] of entries) {
    if ((name === 'since' || name === 'until') && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value)) {
      throw new UserError(invalidTime, { value: quote(value) });
    }
  }
  const conditions = new Map<string, string>(Object.entries(filters));
  return {
    sql: entries.map(([name], at) => ` AND ${conditions.get(name) ?? ''}$${at + 5}`).join(''),
    values: entries.map(([, value]) => value),
  };
}

function cursor(beforeId: string | undefined): readonly [version: number, position: number] {
  if (beforeId === undefined) return [Number.MAX_SAFE_INTEGER, 0];
  const digits = beforeId.slice(prefix.length + 1);
  const [, version, position] = new RegExp(`^(\\d{${versionDigits}})(\\d{${positionDigits}})$`).exec(digits) ?? [];
  if (version === undefined) throw new UserError(wrongIdKind, { field: 'before_id', id: quote(beforeId), prefix });
  return [Number(version), Number(position)];
}

function present([version, position, at, actor, operation_id, kind, resource_id, before, after]: Row) {
  const digits = String(version).padStart(versionDigits, '0') + String(position).padStart(positionDigits, '0');
  return {
    id: `${prefix}_${digits}`,
    version,
    created_at: at,
    actor,
    operation_id,
    action: before === null ? 'create' : after === null ? 'delete' : 'update',
    kind,
    resource_id,
    before: parse(before),
    after: parse(after),
  };
}

function parse(text: Value | undefined): unknown {
  return typeof text === 'string' ? JSON.parse(text) : null;
}

export const changesResource: Resource = {
  errors: Object.values(errors),
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
  schemas: [Change, ChangesPage],
  operations: (context) => [listOperation(context)],
};
