import type { TopAnswer, TopEntry, TopField, TopQuestion } from './messages.ts';
import type { Parts } from './parts.ts';
import { conditionsOf } from './query.ts';
import { tookTooLong } from './reading.ts';
import type { Reading } from './reading.ts';
import { countedColumns } from './summary-sql.ts';
import { parquetTable } from './tables.ts';

/** Files that are read by one statement, and entries that it gives at the most. */
const batchParts = 16;
const batchEntries = 20_000;
/** Entries that are remembered; beyond it those with least are forgotten. */
const mostEntries = 100_000;

const expressions: Readonly<Record<TopField, string>> = {
  source: 'source',
  person: 'person',
  host: 'lower(host)',
  path: 'path',
  module: 'module',
  edge: 'edge_id',
  route: 'route_id',
  restriction: "unnest(string_split(rule, ' '))",
  backend: 'backend_id',
};

/** Finds what has most, from the newest decisions to the oldest that are reached. */
export async function readTop(reading: Reading, parts: Parts, question: TopQuestion): Promise<TopAnswer> {
  const { open, closed, beganMs, keptFromMs } = parts;
  const { fromMs, toMs } = question;
  const isAsked = (part: { readonly minAtMs: number; readonly maxAtMs: number }): boolean =>
    part.maxAtMs >= fromMs && part.minAtMs < toMs;
  const files = closed.filter(isAsked);
  const batches = open !== undefined && isAsked(open) ? [{ table: open.table, maxAtMs: open.maxAtMs }] : [];
  for (let at = 0; at < files.length; at += batchParts) {
    const some = files.slice(at, at + batchParts);
    const maxAtMs = Math.max(...some.map((part) => part.maxAtMs));
    batches.push({ table: parquetTable(...some.map(({ path }) => path)), maxAtMs });
  }
  const most = new Most(question.order);
  let [at, isCut] = [0, false];
  try {
    for (; at < batches.length && !isCut; at += isCut ? 0 : 1) {
      isCut = at > 0 && reading.isLate();
      if (!isCut) most.add(await readBatch(reading, batches[at]?.table ?? '', question));
    }
  } catch (error) {
    if (!reading.isOver()) throw error;
    if (at === 0) throw tookTooLong(error);
    isCut = true;
  }
  const cutAtMs = isCut ? Math.max(...batches.slice(at).map(({ maxAtMs }) => maxAtMs)) + 1 : undefined;
  return { ...most.answer(question.limit), beganMs, keptFromMs, cutAtMs };
}

async function readBatch({ connection }: Reading, table: string, question: TopQuestion): Promise<readonly TopEntry[]> {
  const { where, values } = conditionsOf(question);
  const found = await connection.runAndReadAll(
    `SELECT key, count(*) AS requests, count(*) FILTER (cause <> '') AS refused FROM (` +
      `SELECT ${expressions[question.by]} AS key, ${countedColumns} FROM ${table} WHERE ${where}) ` +
      `WHERE key <> '' GROUP BY key ORDER BY ${question.order} DESC, key LIMIT ${batchEntries}`,
    values,
  );
  return found.getRows().map(([key, requests, refused]) => ({
    key: String(key),
    requests: Number(requests),
    refused: Number(refused),
  }));
}

/** Counts by key, in bounded memory. */
class Most {
  readonly #order: 'requests' | 'refused';
  #entries = new Map<string, TopEntry>();
  #missed = 0;

  constructor(order: 'requests' | 'refused') {
    this.#order = order;
  }

  /** Adds the entries of a batch, which are given most first. */
  add(entries: readonly TopEntry[]): void {
    for (const entry of entries) {
      const { requests = 0, refused = 0 } = this.#entries.get(entry.key) ?? {};
      const { key } = entry;
      this.#entries.set(key, { key, requests: requests + entry.requests, refused: refused + entry.refused });
    }
    if (entries.length >= batchEntries) this.#missed += entries.at(-1)?.[this.#order] ?? 0;
    if (this.#entries.size <= mostEntries) return;
    const sorted = this.#sorted();
    this.#missed += sorted[mostEntries / 2]?.[this.#order] ?? 0;
    this.#entries = new Map(sorted.slice(0, mostEntries / 2).map((entry) => [entry.key, entry]));
  }

  answer(limit: number): Pick<TopAnswer, 'entries' | 'missedAtMost' | 'leastListed'> {
    const sorted = this.#sorted().filter((entry) => entry[this.#order] > 0);
    const entries = sorted.slice(0, limit);
    return {
      entries,
      missedAtMost: this.#missed,
      leastListed: sorted.length > limit ? (entries.at(-1)?.[this.#order] ?? 0) : 0,
    };
  }

  #sorted(): TopEntry[] {
    const order = this.#order;
    return [...this.#entries.values()].toSorted((a, b) => b[order] - a[order] || (a.key < b.key ? -1 : 1));
  }
}
