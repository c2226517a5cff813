import type { Call } from '../../api/call.ts';
import { wrongIdKind } from '../../api/errors.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { Pace } from '../../lib/pace.ts';
import type { Row, Value } from '../../store/database.ts';
import type { Store } from '../../store/store.ts';
import { invalidTime } from './errors.ts';

export const prefix = 'chg';
/** An id is the version and the position in it, in digits, so that ids sort in the order of changes. */
const versionDigits = 15;
const positionDigits = 6;
const columns = 'version, position, at, actor, operation_id, kind, resource_id, before, after';
/** Changes that one step of a page looks at. */
const changesInStep = 2_000;
/** More steps end a page before it is full. */
const stepsInPage = 10;

/** SQL conditions by query parameter. */
export const filters = {
  kind: 'kind = ',
  resource_id: 'resource_id = ',
  actor: 'actor = ',
  since: 'at >= ',
  until: 'at <= ',
} as const;

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
  { queries }: Store,
  accountId: string,
  { page, filters: given }: Call,
): Promise<LogPage> {
  const { resource_id: resourceId, ...others } = given;
  // An index has the changes of one resource in order, so that a step looks at these alone.
  const ofResource = resourceId === undefined ? [] : [resourceId];
  const inStep = `FROM change_log WHERE account_id = $1 AND (version, position) < ($2, $3)
    ${resourceId === undefined ? '' : 'AND resource_id = $4'} ORDER BY version DESC, position DESC`;
  const { sql, values } = condition(others, 5 + ofResource.length);
  const found: Row[] = [];
  const pace = new Pace();
  let before = readCursor(page.beforeId);
  for (let step = 0; step < stepsInPage; step++) {
    const rows = await queries.all(
      `SELECT * FROM (SELECT ${columns} ${inStep} LIMIT ${changesInStep}) AS step ${sql}
       ORDER BY version DESC, position DESC LIMIT $${4 + ofResource.length}`,
      [accountId, ...before, ...ofResource, page.limit + 1 - found.length, ...values],
    );
    found.push(...rows);
    if (found.length > page.limit) {
      const changes = found.slice(0, page.limit);
      return { changes, cursor: cursorOf(changes.at(-1)) };
    }
    const end = await queries.all(`SELECT version, position ${inStep} LIMIT 1 OFFSET ${changesInStep - 1}`, [
      accountId,
      ...before,
      ...ofResource,
    ]);
    const next = cursorOf(end[0]);
    if (next === undefined) return { changes: found, cursor: undefined };
    before = next;
    if (pace.isDue) await pace.giveWay();
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
  return { sql: all.length === 0 ? '' : `WHERE ${all.join(' AND ')}`, values: entries.map(([, value]) => value) };
}

function readCursor(beforeId: string | undefined): Cursor {
  if (beforeId === undefined) return [Number.MAX_SAFE_INTEGER, 0];
  const digits = beforeId.slice(prefix.length + 1);
  const [, version, position] = new RegExp(`^(\\d{${versionDigits}})(\\d{${positionDigits}})$`).exec(digits) ?? [];
  if (version === undefined) throw new UserError(wrongIdKind, { field: 'before_id', id: quote(beforeId), prefix });
  return [Number(version), Number(position)];
}

export function idOf([version, position]: Cursor): string {
  return `${prefix}_${String(version).padStart(versionDigits, '0')}${String(position).padStart(positionDigits, '0')}`;
}
