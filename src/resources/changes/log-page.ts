import type { Call } from '../../api/call.ts';
import { invalidTime, wrongIdKind } from '../../api/errors.ts';
import type { FilterFields } from '../../api/filter/fields.ts';
import { readFilter } from '../../api/filter/read-filter.ts';
import { alertKinds } from '../alerts/service.ts';
import { operatorSignIn } from './service.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { conditionSql } from '../../store/search/condition-sql.ts';
import type { Condition } from '../../store/search/condition.ts';
import { Pace } from '../../lib/pace.ts';
import type { Queries, Row, Value } from '../../store/database.ts';
import { SearchSteps } from '../../store/search/search-steps.ts';
import type { Store } from '../../store/store.ts';

export const prefix = 'chg';
/** An id is the version and the position in it, in digits, so that ids sort in the order of changes. */
const versionDigits = 15;
const positionDigits = 6;
export const columns = 'version, position, at, actor, operation_id, kind, resource_id, source, key_id, scope';
/** Bytes of the texts of a change, which may be long, and are read once it is known which are shown. */
const size = 'COALESCE(octet_length(before), 0) + COALESCE(octet_length(after), 0) AS size';
/** Changes whose texts one statement reads, if they are short. */
const textsAtOnce = 32;
const bytesAtOnce = 262_144;
/** Changes that one step of a page looks at. */
const changesInStep = 2_000;
/** Fields that an expression may name are short, whatever the change; in bytes. */
const sizesInStep: readonly number[] = Array.from({ length: 200 }, () => 100);
/** More changes end a page before it is full. */
const changesInPage = 20_000;

/** The log has alerts and sign-ins for those who send events. They are no changes of the configuration, and there may be very many: a step counts them with what it looks at. */
const noAlertSql = `kind NOT IN (${[...alertKinds, operatorSignIn].map((kind) => `'${kind}'`).join(', ')})`;

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

/** A change: its columns, and the texts of what was and what is. */
export interface LoggedRow {
  readonly row: Row;
  readonly before: Value;
  readonly after: Value;
}

interface LogPage {
  readonly changes: readonly LoggedRow[];
  /** Where the next page begins; undefined at the end of the log. */
  readonly cursor: Cursor | undefined;
}

/**
 * Looks through the log from the newest change on, in steps of a bounded number of changes, until the page is full. A
 * filter that few changes pass ends the page early: its cost does not depend on how long the log is.
 */
export async function readPage(store: Store, accountId: string, call: Call): Promise<LogPage> {
  const { found, cursor } = await findChanges(store, accountId, call);
  return { changes: await withTexts(store.queries, found, new Pace(call.isAbandoned)), cursor };
}

/** Adds the texts of changes, in slices. */
async function withTexts(queries: Queries, found: readonly Row[], pace: Pace): Promise<readonly LoggedRow[]> {
  const changes: LoggedRow[] = [];
  for (let at = 0; at < found.length;) {
    const some = [found[at]!];
    let bytes = sizeOf(some[0]!);
    while (some.length < textsAtOnce && at + some.length < found.length) {
      const next = found[at + some.length]!;
      bytes += sizeOf(next);
      if (bytes > bytesAtOnce) break;
      some.push(next);
    }
    const places = some.map((_, place) => `(version = $${place * 2 + 1} AND position = $${place * 2 + 2})`);
    const sql = `SELECT version, position, before, after FROM change_log WHERE ${places.join(' OR ')}`;
    const rows = await queries.all(
      sql,
      some.flatMap(([version = null, position = null]) => [version, position]),
    );
    const texts = new Map(rows.map(([version, position, ...both]) => [`${String(version)} ${String(position)}`, both]));
    for (const row of some) {
      // The log may have been shortened meanwhile.
      const [before = null, after = null] = texts.get(`${String(row[0])} ${String(row[1])}`) ?? [];
      changes.push({ row, before, after });
    }
    at += some.length;
    if (pace.isDue) await pace.giveWay();
  }
  return changes;
}

function sizeOf(row: Row): number {
  return Number(row.at(-1));
}

async function findChanges(
  { queries, json }: Store,
  accountId: string,
  { page, filters: given, isAbandoned }: Call,
): Promise<{ readonly found: readonly Row[]; readonly cursor: LogPage['cursor'] }> {
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
    const step = `SELECT ${columns}, ${size}, ${passes.fields} ${inStep} LIMIT ${inOneStep}`;
    const text =
      `WITH step AS MATERIALIZED (${step}) SELECT ${columns}, size FROM step WHERE ${noAlertSql} AND ${sql} AND (${passes.sql}) ` +
      `ORDER BY version DESC, position DESC LIMIT ${limitPlace}`;
    const left = page.limit + 1 - found.length;
    const from = [accountId, ...before, ...ofResource];
    const rows = await steps.run(() =>
      queries.all(text, [...from, left, ...values, ...passes.values], ...(expression === undefined ? [] : [accountId])),
    );
    found.push(...rows);
    if (found.length > page.limit) {
      const shown = found.slice(0, page.limit);
      return { found: shown, cursor: cursorOf(shown.at(-1)) };
    }
    const endSql = `SELECT version, position ${inStep} LIMIT 1 OFFSET ${limitPlace}`;
    const next = cursorOf((await queries.all(endSql, [...from, inOneStep - 1]))[0]);
    if (next === undefined) return { found, cursor: undefined };
    before = next;
  }
  return { found, cursor: before };
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
