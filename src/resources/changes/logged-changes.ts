import type { Row, Value } from '../../store/database.ts';
import { columns, idOf } from './log-page.ts';
import type { LoggedChanges } from './service.ts';
import { withoutSecrets } from './shown-documents.ts';

/** Longest document that is read for an event, in bytes. */
const longestDocument = 262_144;

/** A change of the log, whose row has these columns, as callers see it. */
export function presentChange(row: Row, before: Value, after: Value) {
  const [version, position, at, actor, operation_id, kind, resource_id, source, key_id, scope] = row;
  return {
    id: idOf([Number(version), Number(position)]),
    version,
    created_at: at,
    actor,
    operation_id,
    source: source ?? undefined,
    key_id: key_id ?? undefined,
    scope: scope ?? undefined,
    action: before === null ? 'create' : after === null ? 'delete' : 'update',
    kind,
    resource_id,
    before: parse(before),
    after: parse(after),
  };
}

function parse(text: Value | undefined): object | null {
  if (typeof text !== 'string') return null;
  const stored: object = JSON.parse(text);
  return withoutSecrets(stored);
}

const actionOf = "CASE WHEN before IS NULL THEN 'created' WHEN after IS NULL THEN 'deleted' ELSE 'updated' END";
const afterSql = `SELECT version, position, kind, ${actionOf} FROM change_log
  WHERE account_id = $1 AND (version, position) > ($2, $3) ORDER BY version, position LIMIT $4`;
/** A document that is too long is left out, and so is the former one with it. */
const bounded = (column: string) =>
  `CASE WHEN COALESCE(octet_length(before), 0) + COALESCE(octet_length(after), 0) <= ${longestDocument} THEN ${column} END`;
const oneSql = `SELECT ${columns}, mark, ${bounded('before')}, ${bounded('after')},
    CASE WHEN before IS NULL THEN 1 ELSE 0 END, CASE WHEN after IS NULL THEN 1 ELSE 0 END
  FROM change_log WHERE account_id = $1 AND version = $2 AND position = $3`;

/** The log of changes for those who follow that of one account. */
export const accountChanges: LoggedChanges = {
  async after(queries, accountId, { version, position }, most) {
    const rows = await queries.all(afterSql, [accountId, version, position, most]);
    return rows.map(([eachVersion, eachPosition, kind, action]) => ({
      place: { version: Number(eachVersion), position: Number(eachPosition) },
      kind: String(kind),
      action: String(action),
    }));
  },
  async read(queries, accountId, { version, position }) {
    const [row] = await queries.all(oneSql, [accountId, version, position]);
    if (row === undefined) return undefined;
    const [mark = null, before = null, after = null, isNew, isGone] = row.slice(-5);
    const { created_at, kind, resource_id, before: was, after: is, ...shown } = presentChange(row, before, after);
    const { id, actor, operation_id, source, key_id, scope } = shown;
    const isWhole = (isNew === 1) === (before === null) && (isGone === 1) === (after === null);
    return {
      kind: String(kind),
      at: String(created_at),
      mark: String(mark),
      document: (isGone === 1 ? was : is) ?? { id: resource_id },
      before: was,
      isWhole,
      action: isNew === 1 ? 'created' : isGone === 1 ? 'deleted' : 'updated',
      change: { id, actor, operation_id, source, key_id, scope },
    };
  },
  async oldest(queries) {
    const [row] = await queries.all('SELECT MIN(version) FROM change_log');
    return row?.[0] === null || row === undefined ? undefined : Number(row[0]);
  },
  async now(queries) {
    const [row] = await queries.all('SELECT version FROM store_version');
    return { version: Number(row?.[0]), position: lastPosition };
  },
};

/** No version has so many changes. */
const lastPosition = 999_999;
