import type { Call } from '../../api/call.ts';
import { invalidTime, wrongIdKind } from '../../api/errors.ts';
import type { FilterFields } from '../../api/filter/fields.ts';
import { readFilter } from '../../api/filter/read-filter.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { conditionSql } from '../../store/search/condition-sql.ts';
import type { Condition } from '../../store/search/condition.ts';
import type { Row, Value } from '../../store/database.ts';
import { SearchSteps } from '../../store/search/search-steps.ts';
import type { Store } from '../../store/store.ts';

export const prefix = 'chg';
/** An id is the version and the position in it, in digits, so that ids sort in the order of changes. */
const versionDigits = 15;
const positionDigits = 6;
const columns = 'version, position, at, actor, operation_id, kind, resource_id, before, after, source, key_id, scope';
/** Changes that one step of a page looks at. */
const changesInStep = 2_000;
/** Fields that an expression may name are short, whatever the change; in bytes. */
const sizesInStep: readonly number[] = Array.from({ length: 200 }, () => 100);
/** More changes end a page before it is full. */
const changesInPage = 20_000;

/** SQL conditions by query parameter. */
export const filters = {
  kind: 'kind = ',
  resource_id: 'resource_id = ',
  actor: 'actor = ',
  since: 'at >= ',
  until: 'at <= ',
} as const;

/** Zeros before a number make it as long as it is in an id. */
const digitsOf = (column: string, digits: number) => `substr(CAST(${10 ** digits} + ${column} AS TEXT), 2)`;

export const filterFields = {
  id: {
    kind: 'text',
    sql: `('${prefix}_' || ${digitsOf('version', versionDigits)} || ${digitsOf('position', positionDigits)})`,
  },
  created_at: { kind: 'time', sql: 'at' },
  version: { kind: 'number', sql: 'version' },
  actor: { kind: 'text', sql: 'actor' },
  operation_id: { kind: 'text', sql: 'operation_id' },
  action: {
    kind: 'text',
    sql: "(CASE WHEN before IS NULL THEN 'create' WHEN after IS NULL THEN 'delete' ELSE 'update' END)",
  },
  kind: { kind: 'text', sql: 'kind' },
  resource_id: { kind: 'text', sql: 'resource_id' },
} as const satisfies FilterFields;

const everything: Condition = { kind: 'constant', value: true };

/** A place in the log: changes before it are older. */
type Cursor = readonly [version: number, position: number];

interface LogPage {
  readonly changes: readonly Row[];
  /** Where the next page begins; undefined at the end of the log. */
  readonly cursor: Cursor | undefined;
}

/**
 * Looks through the log from the newest change on, in steps of a bounded number of changes, until the page is full. A
 * filter that few changes pass ends the page early: its cost does not depend on how long the log is.
 */
export async function readPage(
  { queries, json }: Store,
  accountId: string,
  { page, filters: given, isAbandoned }: Call,
): Promise<LogPage> {
  const { resource_id: resourceId, filter, ...others } = given;
  // An index has the changes of one resource in order, so that a step looks at these alone.
  const ofResource = resourceId === undefined ? [] : [resourceId];
  const inStep = `FROM change_log WHERE account_id = $1 AND (version, position) < ($2, $3)
    ${resourceId === undefined ? '' : 'AND resource_id = $4'} ORDER BY version DESC, position DESC`;
  const { sql, values } = condition(others, 5 + ofResource.length);
  const expression = readFilter(filter, filterFields);
  const passes = conditionSql(expression ?? everything, json, 'after', 5 + ofResource.length + values.length);
  const steps = new SearchSteps(expression ?? everything, accountId, isAbandoned);
  const limitPlace = `$${4 + ofResource.length}`;
  const found: Row[] = [];
  let before = readCursor(page.beforeId);
  for (let seen = 0; seen < changesInPage && !steps.isOutOfTime;) {
    const inOneStep = expression === undefined ? changesInStep : steps.next(sizesInStep);
    seen += inOneStep;
    // Kept apart, or SQLite would compute a field anew for each use.
    const step = `SELECT ${columns}, ${passes.fields} ${inStep} LIMIT ${inOneStep}`;
    const text =
      `WITH step AS MATERIALIZED (${step}) SELECT ${columns} FROM step WHERE ${sql} AND (${passes.sql}) ` +
      `ORDER BY version DESC, position DESC LIMIT ${limitPlace}`;
    const left = page.limit + 1 - found.length;
    const from = [accountId, ...before, ...ofResource];
    const rows = await steps.run(() =>
      queries.all(text, [...from, left, ...values, ...passes.values], ...(expression === undefined ? [] : [accountId])),
    );
    found.push(...rows);
    if (found.length > page.limit) {
      const changes = found.slice(0, page.limit);
      return { changes, cursor: cursorOf(changes.at(-1)) };
    }
    const endSql = `SELECT version, position ${inStep} LIMIT 1 OFFSET ${limitPlace}`;
    const next = cursorOf((await queries.all(endSql, [...from, inOneStep - 1]))[0]);
    if (next === undefined) return { changes: found, cursor: undefined };
    before = next;
  }
  return { changes: found, cursor: before };
}

function cursorOf(row: Row | undefined): Cursor | undefined {
  return row === undefined ? undefined : [Number(row[0]), Number(row[1])];
}

function condition(
  given: Call['filters'],
  firstPlace: number,
): { readonly sql: string; readonly values: readonly Value[] } {
  const entries = Object.entries(given);
  for (const [name, value] of entries) {
    if ((name === 'since' || name === 'until') && !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/.test(value)) {
      throw new UserError(invalidTime, { value: quote(value) });
    }
  }
  const conditions = new Map<string, string>(Object.entries(filters));
  const all = entries.map(([name], at) => `${conditions.get(name) ?? ''}$${firstPlace + at}`);
  return { sql: all.length === 0 ? 'TRUE' : all.join(' AND '), values: entries.map(([, value]) => value) };
}

function readCursor(beforeId: string | undefined): Cursor {
  if (beforeId === undefined) return [Number.MAX_SAFE_INTEGER, 0];
  const place = placeOf(beforeId);
  if (place === undefined) throw new UserError(wrongIdKind, { field: 'before_id', id: quote(beforeId), prefix });
  return place;
}

/** The place that an id names; undefined where it is no id of a change. */
export function placeOf(id: string): Cursor | undefined {
  const digits = id.startsWith(`${prefix}_`) ? id.slice(prefix.length + 1) : '';
  const [, version, position] = new RegExp(`^(\\d{${versionDigits}})(\\d{${positionDigits}})$`).exec(digits) ?? [];
  return version === undefined ? undefined : [Number(version), Number(position)];
}

export function idOf([version, position]: Cursor): string {
  return `${prefix}_${String(version).padStart(versionDigits, '0')}${String(position).padStart(positionDigits, '0')}`;
}
