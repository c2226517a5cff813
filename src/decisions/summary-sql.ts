import { causesByCode, causesByModule } from '../observe/decision-causes.ts';
import { bucketsOfOctave } from './durations.ts';

/** Version of the columns of summaries, which each of their files names. */
export const summaryVersion = 1;

/** Selections that summaries hold counts of; others are counted from the decisions themselves. */
export const dimensions = ['all', 'edge', 'route', 'backend', 'restriction', 'module'] as const;
export type Dimension = (typeof dimensions)[number];

/** Counts have 53 bits: a visitor may announce a length that has them all. */
const most = 9_007_199_254_740_991n;
const summed = (column: string): string => `least(sum(${column}), ${most})::BIGINT AS ${column}`;

/** What counts are told apart by, beside time and selection. */
export const groupColumns = 'kind, verdict, class, cause, bucket';
export const countColumns = ['requests', 'bytes_in', 'bytes_out'].map(summed).join(', ');

const listed = (values: Iterable<string | number>): string =>
  Array.from(values, (each) => (typeof each === 'number' ? String(each) : `'${each}'`)).join(', ');

function keysOf<Key, Value>(map: ReadonlyMap<Key, Value>): readonly (readonly [Value, readonly Key[]])[] {
  const keys = new Map<Value, Key[]>();
  for (const [key, value] of map) keys.set(value, [...(keys.get(value) ?? []), key]);
  return [...keys];
}

const cause = [
  'CASE',
  ...keysOf(causesByCode).map(([name, codes]) => `WHEN code IN (${listed(codes)}) THEN '${name}'`),
  "WHEN verdict <> 'refused' THEN ''",
  "WHEN rule <> '' THEN 'rule'",
  ...keysOf(causesByModule).map(([name, modules]) => `WHEN module IN (${listed(modules)}) THEN '${name}'`),
  "ELSE 'other' END",
].join(' ');

const bucket = `CASE WHEN duration_us < 1 THEN 0 ELSE 1 + floor(log2(duration_us) * ${bucketsOfOctave})::INTEGER END`;

/** What a decision is counted as, of a table of decisions. */
export const countedColumns =
  `kind, verdict, status // 100 AS class, ${cause} AS cause, ${bucket} AS bucket, ` +
  'bytes_in::HUGEINT AS bytes_in, bytes_out::HUGEINT AS bytes_out, 1 AS requests';

/** The beginning of the interval that a moment is in. */
export function beginOf(stepMs: number): string {
  return `at_ms - at_ms % ${Math.trunc(stepMs)}`;
}

const keys: Readonly<Record<Dimension, string>> = {
  all: "SELECT 'all' AS dimension, '' AS key, * FROM counted",
  edge: "SELECT 'edge' AS dimension, edge_id AS key, * FROM counted WHERE edge_id <> ''",
  route: "SELECT 'route' AS dimension, route_id AS key, * FROM counted WHERE route_id <> ''",
  backend: "SELECT 'backend' AS dimension, backend_id AS key, * FROM counted WHERE backend_id <> ''",
  restriction:
    "SELECT 'restriction' AS dimension, unnest(list_distinct(string_split(rule, ' '))) AS key, * FROM counted WHERE rule <> ''",
  module:
    "SELECT 'module' AS dimension, unnest(list_filter(list_distinct([module, would_be_refused_by]), lambda each: each <> '')) AS key, * " +
    "FROM counted WHERE module <> '' OR would_be_refused_by <> ''",
};

const minuteMs = 60_000;

/** Counts of a table of decisions by minute, of each selection. */
export function summaryOf(table: string): string {
  const fields = 'edge_id, route_id, backend_id, rule, module, would_be_refused_by';
  return (
    `WITH counted AS MATERIALIZED (SELECT at_ms, ${fields}, ${groupColumns}, ${countColumns} ` +
    `FROM (SELECT ${beginOf(minuteMs)} AS at_ms, ${fields}, ${countedColumns} FROM ${table}) GROUP BY at_ms, ${fields}, ${groupColumns}) ` +
    `SELECT dimension, key, at_ms, ${groupColumns}, ${countColumns} FROM (` +
    dimensions
      .map(
        (each) => `SELECT dimension, key, at_ms, ${groupColumns}, requests, bytes_in, bytes_out FROM (${keys[each]})`,
      )
      .join(' UNION ALL ') +
    `) GROUP BY dimension, key, at_ms, ${groupColumns}`
  );
}

/** Counts of summaries by a longer interval. */
export function summedUp(table: string, stepMs: number): string {
  return (
    `SELECT dimension, key, at_ms, ${groupColumns}, ${countColumns} FROM (SELECT * REPLACE (${beginOf(stepMs)} AS at_ms) FROM ${table}) ` +
    `GROUP BY dimension, key, at_ms, ${groupColumns}`
  );
}
