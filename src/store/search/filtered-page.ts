import { firstIdOfSecond } from '../../lib/ids.ts';
import { mapInTurns } from '../../lib/map-in-turns.ts';
import { conditionSql, readableSql } from './condition-sql.ts';
import type { Condition, JsonSql } from './condition.ts';
import type { Queries, Row, Value } from '../database.ts';
import { SearchSteps, sizesAtOnce } from './search-steps.ts';
import type { Page } from '../table.ts';

export interface FilteredPage extends Page {
  readonly condition: Condition;
  /** Rows that may be looked at. */
  readonly maxRows: number;
  /** Nobody waits for the page any more. */
  readonly isAbandoned: () => boolean;
  /** Values by column, for a list of what belongs to one thing; an index has them between the account and the id. */
  readonly scope?: Readonly<Record<string, string>>;
}

/** Rows that pass, and how far the search came. */
export interface Filtered<Document> {
  readonly found: readonly Document[];
  /** Id, or other place in the order, of the last row that was looked at, where a bound ended the search. */
  readonly endedAt: string | undefined;
  readonly lookedAt: number;
}

export interface SearchedRows {
  /** The account that searches. */
  readonly searcher: string;
  readonly table: string;
  readonly prefix: string;
  /** Values by column; an index begins with these columns, and goes on with the id. */
  readonly scope: Readonly<Record<string, string>>;
  /** SQL by which the value of a column of the scope is found from the one that is given. */
  readonly scopeSql?: (place: string) => string;
  /** SQL condition of rows that are shown; several rows may have the same id, of which one at most is shown. */
  readonly isShown?: string;
  /** Another order than that of ids, newest first: a column that tells rows of the scope apart, and a value to begin after. */
  readonly ascending?: { readonly column: string; readonly after: string };
}

/** Sorts after every id, and after every other text that rows are in the order of. */
const afterAll = '~';

/**
 * A page of the rows that pass a condition, in their order. It is read in steps whose work is bounded: one query over all of
 * the rows would keep everybody waiting on SQLite.
 */
export async function filteredPage(
  queries: Queries,
  json: JsonSql,
  searched: SearchedRows,
  { beforeId, limit, condition, maxRows, isAbandoned }: Omit<FilteredPage, 'scope'>,
): Promise<Filtered<Row>> {
  const { searcher, prefix, scope, ascending } = searched;
  const { step: sql, sizes: sizesSql, values } = searchSql(json, searched, condition);
  const scopeValues = Object.values(scope);
  const end = ascending === undefined ? leastId(condition, prefix) : afterAll;
  const found: Row[] = [];
  const steps = new SearchSteps(condition, searcher, isAbandoned);
  let last: Value = ascending?.after ?? beforeId ?? afterAll;
  let following: readonly Row[] = [];
  let lookedAt = 0;
  while (lookedAt < maxRows && !steps.isOutOfTime) {
    if (following.length === 0) {
      following = await queries.all(sizesSql, [...scopeValues, last, end, sizesAtOnce]);
      if (following.length === 0) return { found, endedAt: undefined, lookedAt };
    }
    const rows = Math.min(steps.next(following.map(([, size]) => Number(size))), maxRows - lookedAt);
    const upTo: Value = following[rows - 1]?.[0] ?? last;
    const between = [...scopeValues, last, upTo, ...values];
    const read: readonly Row[] = await steps.run(() => queries.all(sql, between, searcher));
    for (const [document = null] of read) if (document !== null && found.length < limit) found.push([document]);
    lookedAt += rows;
    if (found.length === limit) return { found, endedAt: undefined, lookedAt };
    last = upTo;
    following = following.slice(rows);
  }
  return { found, endedAt: String(last), lookedAt };
}

/** Statements of a search. Their parameters are the scope, where to begin and to end, and the number of rows or `values`. */
function searchSql(
  json: JsonSql,
  { table, scope, scopeSql = (place) => place, isShown = 'TRUE', ascending }: SearchedRows,
  condition: Condition,
): { readonly step: string; readonly sizes: string; readonly values: readonly Value[] } {
  const key = ascending?.column ?? 'id';
  const [after, until, order] = ascending === undefined ? ['<', '>=', 'DESC'] : ['>', '<=', 'ASC'];
  const inScope = Object.keys(scope).map((column, at) => `${column} = ${scopeSql(`$${at + 1}`)}`);
  const place = inScope.length;
  const following = `FROM ${table} WHERE ${inScope.join(' AND ')} AND ${key} ${after} $${place + 1} AND ${key} ${until} $${place + 2}`;
  const { sql: passes, values, fields } = conditionSql(condition, json, 'document', place + 3);
  // Kept apart, or SQLite would make the readable document, and read a field of it, anew for each use.
  const step =
    `WITH step AS MATERIALIZED (SELECT ${key} AS place, document AS stored, ` +
    `${readableSql(json, 'document')} AS document ${following} AND ${isShown}), ` +
    `read AS MATERIALIZED (SELECT place, stored, ${fields} FROM step) ` +
    `SELECT CASE WHEN ${passes} THEN stored END FROM read ORDER BY place ${order}`;
  const sizes = `SELECT ${key}, octet_length(document) ${following} ORDER BY ${key} ${order} LIMIT $${place + 3}`;
  return { step, sizes, values };
}

/** Tells which of some documents that are in no table pass, in their order. */
export async function passingDocuments(
  queries: Queries,
  json: JsonSql,
  documents: readonly object[],
  steps: SearchSteps,
): Promise<readonly boolean[]> {
  const passing: boolean[] = [];
  const texts = await mapInTurns(documents, (document) => JSON.stringify(document));
  while (passing.length < texts.length) {
    const following = texts.slice(passing.length, passing.length + sizesAtOnce);
    const some = following.slice(0, steps.next(following.map((text) => text.length)));
    const { sql, values, fields } = conditionSql(steps.condition, json, 'document', some.length + 1);
    const rows = some.map((_, at) => `(${at}, CAST($${at + 1} AS TEXT))`).join(', ');
    // The columns of VALUES have these names in both databases.
    const readable = `SELECT column1 AS place, ${readableSql(json, 'column2')} AS document FROM (VALUES ${rows}) AS given`;
    const text =
      `WITH step AS MATERIALIZED (${readable}), read AS MATERIALIZED (SELECT place, ${fields} FROM step) ` +
      `SELECT CASE WHEN ${sql} THEN 1 ELSE 0 END FROM read ORDER BY place`;
    const answers = await steps.run(() => queries.all(text, [...some, ...values], steps.searcher));
    passing.push(...answers.map(([answer]) => answer === 1));
  }
  return passing;
}

/**
 * An id below which no row can pass: ids begin with the second in which they were made, which is never before
 * `created_at`. So a filter that names a time looks at newer rows only.
 */
function leastId(condition: Condition, prefix: string): string {
  const parts = condition.kind === 'all' ? condition.of : [condition];
  const bounds = parts.map((part) => {
    if (part.kind !== 'compare' || !['=', '>', '>='].includes(part.operator) || !('path' in part.field)) return '';
    const [name] = part.field.path;
    // Lowered texts have another order than the index.
    if (part.field.path.length !== 1 || part.field.isLowered === true) return '';
    if (name === 'id') return String(part.to);
    return name === 'created_at' ? firstIdOfSecond(prefix, String(part.to)) : '';
  });
  return bounds.reduce((most, bound) => (bound > most ? bound : most), '');
}
