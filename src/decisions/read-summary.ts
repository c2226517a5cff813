import type { DuckDBValue } from '@duckdb/node-api';

import type { Selection, SummaryAnswer, SummaryPoint, SummaryQuestion } from './messages.ts';
import type { ClosedPart, Parts, Summary } from './parts.ts';
import { conditionsOf } from './query.ts';
import { tookTooLong } from './reading.ts';
import type { Reading } from './reading.ts';
import { beginOf, countColumns, countedColumns, groupColumns } from './summary-sql.ts';
import type { Dimension } from './summary-sql.ts';
import { parquetTable } from './tables.ts';

const hourMs = 3_600_000;
/** Files that are read by one statement. */
const atOnce = { summary: 32, decisions: 8 };

interface Counting {
  readonly selection: Selection;
  readonly fromMs: number;
  readonly toMs: number;
  readonly stepMs: number;
}

/** Whose counts are asked for, where summaries have them. */
interface Counted {
  readonly dimension: Dimension;
  readonly keys: readonly string[];
}

/** A file that is to be counted. */
interface Unit {
  readonly form: 'summary' | 'decisions';
  /** Undefined: it is a log of lines, and read alone. */
  readonly path: string | undefined;
  readonly table: string;
  readonly firstNumber: number;
  readonly maxAtMs: number;
}

/** Counts decisions by intervals: from summaries where these have what is asked for, and else one by one. */
export async function readSummary(reading: Reading, parts: Parts, question: SummaryQuestion): Promise<SummaryAnswer> {
  const { fromMs, toMs, stepMs, hoursFromMs } = question;
  const { beganMs, keptFromMs } = parts;
  const { points, cutAtMs } = await count(reading, parts, { selection: question, fromMs, toMs, stepMs });
  const answer = { beganMs, keptFromMs, cutAtMs, points, hours: [] };
  if (hoursFromMs === undefined || countedBy(question) === undefined) return answer;
  // Summaries by the hour know whole ones only.
  const [firstMs, lastMs] = [Math.ceil(hoursFromMs / hourMs) * hourMs, toMs - (toMs % hourMs)];
  const byHour = { selection: question, fromMs: firstMs, toMs: lastMs, stepMs: hourMs };
  const hours = await count(reading, parts, byHour).catch((error: unknown) => {
    if (!reading.isOver()) throw error;
    return { points: [], cutAtMs: lastMs };
  });
  return { ...answer, hours: hours.points, hoursCutAtMs: hours.cutAtMs };
}

async function count(
  reading: Reading,
  parts: Parts,
  counting: Counting,
): Promise<{ readonly points: readonly SummaryPoint[]; readonly cutAtMs: number | undefined }> {
  const units = unitsOf(parts, counting);
  const counts = new Counts();
  let at = 0;
  const left = (): number => Math.max(...units.slice(at).map(({ maxAtMs }) => maxAtMs)) + 1;
  try {
    while (at < units.length) {
      if (at > 0 && reading.isLate()) return { points: counts.points(), cutAtMs: left() };
      const batch = batchAt(units, at);
      for (const row of await readUnits(reading, batch, counting)) counts.add(row);
      at += batch.length;
    }
    return { points: counts.points(), cutAtMs: undefined };
  } catch (error) {
    if (!reading.isOver()) throw error;
    if (at === 0) throw tookTooLong(error);
    return { points: counts.points(), cutAtMs: left() };
  }
}

/** Undefined: summaries do not have it. */
function countedBy(selection: Selection): Counted | undefined {
  const { source, verdict, person, host, status, requestId, anyOf } = selection;
  if ([source, verdict, person, host, status, requestId].some((each) => each !== undefined)) return undefined;
  const counted: Counted[] = [];
  const single: Partial<Record<Dimension, string | undefined>> = {
    edge: selection.edgeId,
    route: selection.routeId,
    backend: selection.backendId,
    restriction: selection.rule,
    module: selection.module,
  };
  // Object.entries does not tell the names.
  for (const [dimension, key] of Object.entries(single) as [Dimension, string | undefined][])
    if (key !== undefined) counted.push({ dimension, keys: [key] });
  if (anyOf !== undefined) {
    const [first] = anyOf;
    const isOfOne = anyOf.every(({ dimension }) => dimension === first?.dimension);
    // One decision may name two restrictions, and counts once.
    if (first === undefined || !isOfOne || (first.dimension === 'restriction' && anyOf.length > 1)) return undefined;
    counted.push({ dimension: first.dimension, keys: [...new Set(anyOf.map(({ key }) => key))] });
  }
  if (counted.length === 0) return { dimension: 'all', keys: [''] };
  return counted.length === 1 ? counted[0] : undefined;
}

/** Newest first. */
function unitsOf(
  { open, closed, minutes, hours }: Parts,
  { selection, fromMs, toMs, stepMs }: Counting,
): readonly Unit[] {
  const counted = countedBy(selection);
  const isAsked = ({ minAtMs, maxAtMs }: { readonly minAtMs: number; readonly maxAtMs: number }): boolean =>
    maxAtMs >= fromMs && minAtMs < toMs;
  const mayUse = ({ hasEach }: Summary): boolean => counted !== undefined && (hasEach || counted.dimension === 'all');
  const ofHours = stepMs % hourMs === 0 ? hours.filter(mayUse) : [];
  const isCovered = ({ firstNumber, lastNumber }: ClosedPart): boolean =>
    ofHours.some((each) => each.firstNumber <= firstNumber && lastNumber <= each.lastNumber);
  const ofParts = closed
    .filter((part) => isAsked(part) && !isCovered(part))
    .map((part) => {
      const summary = minutes.get(part.firstNumber);
      return summary !== undefined && mayUse(summary) ? unitOf('summary', summary) : unitOf('decisions', part);
    });
  const all = [...ofHours.filter(isAsked).map((each) => unitOf('summary', each)), ...ofParts];
  const units = all.toSorted((a, b) => b.firstNumber - a.firstNumber);
  return open !== undefined && isAsked(open) ? [{ ...open, form: 'decisions', path: undefined }, ...units] : units;
}

function unitOf(form: Unit['form'], { path, firstNumber, maxAtMs }: Summary | ClosedPart): Unit {
  return { form, path, table: parquetTable(path), firstNumber, maxAtMs };
}

/** The next units, of one form, that one statement reads. */
function batchAt(units: readonly Unit[], at: number): readonly Unit[] {
  const first = units[at];
  if (first === undefined || first.path === undefined) return units.slice(at, at + 1);
  const some = units.slice(at, at + atOnce[first.form]);
  const end = some.findIndex(({ form, path }) => form !== first.form || path === undefined);
  return end === -1 ? some : some.slice(0, end);
}

async function readUnits(
  { connection }: Reading,
  units: readonly Unit[],
  { selection, fromMs, toMs, stepMs }: Counting,
): Promise<readonly (readonly DuckDBValue[])[]> {
  const [first] = units;
  const paths = units.flatMap(({ path }) => path ?? []);
  const table = paths.length === 0 ? (first?.table ?? '') : parquetTable(...paths);
  const counted = countedBy(selection);
  const isSummary = first?.form === 'summary' && counted !== undefined;
  const { where, values } = isSummary
    ? summaryConditions(counted, fromMs, toMs)
    : conditionsOf({ ...selection, fromMs, toMs });
  const columns = isSummary ? `${groupColumns}, requests, bytes_in, bytes_out` : countedColumns;
  const found = await connection.runAndReadAll(
    `SELECT at_ms, ${groupColumns}, ${countColumns} FROM (SELECT ${beginOf(stepMs)} AS at_ms, ${columns} FROM ${table} WHERE ${where}) ` +
      `GROUP BY at_ms, ${groupColumns}`,
    values,
  );
  return found.getRows();
}

function summaryConditions(
  { dimension, keys }: Counted,
  fromMs: number,
  toMs: number,
): { readonly where: string; readonly values: Record<string, DuckDBValue> } {
  const values: Record<string, DuckDBValue> = { dimension, fromMs: BigInt(fromMs), toMs: BigInt(toMs) };
  for (const [at, key] of keys.entries()) values[`key${at}`] = key;
  const names = keys.map((_key, at) => `$key${at}`).join(', ');
  return { where: `dimension = $dimension AND key IN (${names}) AND at_ms >= $fromMs AND at_ms < $toMs`, values };
}

interface Growing {
  readonly counts: Record<string, number>;
  readonly durations: Record<'https' | 'tcp', Record<number, number>>;
}

/** Counts by interval, added up from the rows of statements. */
class Counts {
  readonly #points = new Map<number, Growing>();

  add(row: readonly DuckDBValue[]): void {
    // The statement in readUnits has these columns.
    const [atMs, kind, verdict, group, cause, bucket, requests, bytesIn, bytesOut] = row;
    const [at, number] = [Number(atMs), Number(requests)];
    let point = this.#points.get(at);
    if (point === undefined) this.#points.set(at, (point = { counts: {}, durations: { https: {}, tcp: {} } }));
    const { counts, durations } = point;
    increase(counts, 'requests', number);
    increase(counts, 'bytesIn', Number(bytesIn));
    increase(counts, 'bytesOut', Number(bytesOut));
    if (verdict === 'warned') increase(counts, 'warned', number);
    if (typeof cause === 'string' && cause !== '') {
      increase(counts, 'refused', number);
      increase(counts, cause, number);
      return;
    }
    if (group === 4 || group === 5) increase(counts, `errors${group}xx`, number);
    increase(durations[kind === 'tcp' ? 'tcp' : 'https'], Number(bucket), number);
  }

  points(): readonly SummaryPoint[] {
    return [...this.#points].map(([atMs, point]) => ({ atMs, ...point })).toSorted((a, b) => a.atMs - b.atMs);
  }
}

/** Adds up counts, of which those of 0 are left out. */
function increase(counts: Record<string | number, number>, name: string | number, by: number): void {
  if (by !== 0) counts[name] = (counts[name] ?? 0) + by;
}
