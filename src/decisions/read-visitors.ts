import type { DuckDBConnection } from '@duckdb/node-api';

import type { VisitedEdges, VisitedEdgesQuestion, VisitorFacts, Visitors, VisitorsQuestion } from './messages.ts';
import type { Part, Parts } from './parts.ts';
import { tookTooLong } from './reading.ts';
import type { Reading } from './reading.ts';

/** Files that are read by one statement, and groups from which on no further file is read. */
export const visitorLimits = { batchParts: 16, groups: 200_000 };

/** Other methods are as good as none: visitors make up any number of them. */
const method = `CASE WHEN method IN ('GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS') THEN method ELSE '' END`;
/** The path of a visit that took a route hardly matters where there is one only. */
const withoutPaths = "'' AS host, 0 AS port, CASE WHEN route_id = '' THEN path ELSE '' END AS path";
const grouped = (withPaths: boolean) => `
  edge_id, route_id, person, module, verdict = 'refused' AS refused, backend_id <> '' AS reached, ${method} AS method,
  ${withPaths ? 'lower(host) AS host, port, path' : withoutPaths}, configuration_version >= $since AS recent,
  source_high, source_low`;

/** Counts visits of each edge, newest files first, until a bound is reached. */
export async function readVisitedEdges(
  reading: Reading,
  parts: Parts,
  { fromMs, before = Infinity }: VisitedEdgesQuestion,
): Promise<VisitedEdges> {
  const edges = new Map<string, { requests: number; minVersion: number }>();
  const end = await inBatches(reading, partsOf(parts, fromMs, before), async (connection, table) => {
    const found = await connection.runAndReadAll(
      `SELECT edge_id, count(*), min(configuration_version) FROM ${table} GROUP BY edge_id`,
    );
    for (const [id, count, version] of found.getRows()) {
      const known = edges.get(String(id)) ?? { requests: 0, minVersion: Infinity };
      known.requests += Number(count);
      known.minVersion = Math.min(known.minVersion, Number(version));
      edges.set(String(id), known);
    }
    return 'more';
  });
  return { edges: [...edges].map(([id, counts]) => ({ id, ...counts })), ...end };
}

/** Groups visits that are alike to whoever decides about them, newest files first, until a bound is reached. */
export async function readVisitors(
  reading: Reading,
  parts: Parts,
  { fromMs, before = Infinity, edgeIds, since, withPaths }: VisitorsQuestion,
): Promise<Visitors> {
  const groups = new Groups();
  let isCut = false;
  const places = edgeIds.map((_, at) => `$edge${at}`).join(', ');
  const values = { since: BigInt(since), ...Object.fromEntries(edgeIds.map((id, at) => [`edge${at}`, id])) };
  const end = await inBatches(reading, partsOf(parts, fromMs, before), async (connection, table, isOne) => {
    const found = await connection.stream(
      `SELECT ${grouped(withPaths)}, count(*), max(at_ms) FROM ${table} WHERE edge_id IN (${places}) GROUP BY ALL`,
      values,
    );
    const chunks: (readonly (readonly unknown[])[])[] = [];
    let rows = 0;
    for (let chunk = await found.fetchChunk(); chunk !== null && chunk.rowCount > 0; chunk = await found.fetchChunk()) {
      rows += chunk.rowCount;
      // Visitors choose paths: nobody knows how many groups a file has.
      if (rows > visitorLimits.groups) {
        if (!isOne) return 'too many';
        isCut = true;
        break;
      }
      chunks.push(chunk.getColumns());
    }
    // A statement that is interrupted adds nothing.
    for (const columns of chunks) groups.add(columns);
    return groups.count < visitorLimits.groups ? 'more' : 'full';
  });
  return { ...groups.finish(), isCut, ...end };
}

function partsOf({ open, closed }: Parts, fromMs: number, before: number): readonly Part[] {
  const all = open === undefined ? closed : [open, ...closed];
  return all.filter(({ firstNumber, maxAtMs }) => firstNumber < before && maxAtMs >= fromMs);
}

/** `too many`: nothing was read, and fewer files at once are to be tried; `full`: there is no room for more of them. */
type Room = 'more' | 'full' | 'too many';

/** Reads files until there are no more, or a bound is reached: then all from a number on have been read. */
async function inBatches(
  reading: Reading,
  parts: readonly Part[],
  read: (connection: DuckDBConnection, table: string, isOne: boolean) => Promise<Room>,
): Promise<{ readonly cutAt?: number; readonly firstMs: number }> {
  let firstMs = Infinity;
  let size = 1;
  for (let at = 0; at < parts.length;) {
    const some = parts.slice(at, at + size);
    const table = some.map((part) => `SELECT * FROM ${part.table}`).join(' UNION ALL ');
    let room: Room;
    try {
      room = await read(reading.connection, `(${table})`, some.length === 1);
    } catch (error) {
      if (!reading.isOver() || at === 0) throw reading.isOver() ? tookTooLong(error) : error;
      return { cutAt: parts[at - 1]?.firstNumber ?? 0, firstMs };
    }
    size = room === 'too many' ? 1 : visitorLimits.batchParts;
    if (room === 'too many') continue;
    for (const { minAtMs } of some) firstMs = Math.min(firstMs, minAtMs);
    at += some.length;
    if (at < parts.length && (room === 'full' || reading.isLate()))
      return { cutAt: some.at(-1)?.firstNumber ?? 0, firstMs };
  }
  return { firstMs };
}

/** Groups by columns, which are quicker to send than objects. */
class Groups {
  readonly #facts = new Map<string, number>();
  readonly #list: VisitorFacts[] = [];
  readonly #columns = {
    fact: [] as number[],
    high: [] as bigint[],
    low: [] as bigint[],
    requests: [] as number[],
    lastMs: [] as number[],
  };

  get count(): number {
    return this.#columns.fact.length;
  }

  add(columns: readonly (readonly unknown[])[]): void {
    const [
      edge = [],
      route = [],
      person = [],
      module = [],
      refused = [],
      reached = [],
      way = [],
      host = [],
      port = [],
    ] = columns;
    const [path = [], recent = [], high = [], low = [], requests = [], lastMs = []] = columns.slice(9);
    const { fact, ...own } = this.#columns;
    for (let at = 0; at < edge.length; at++) {
      fact.push(
        this.#factOf({
          edgeId: String(edge[at]),
          routeId: String(route[at]),
          person: String(person[at]),
          module: String(module[at]),
          isRefused: refused[at] === true,
          hasReached: reached[at] === true,
          method: String(way[at]),
          host: String(host[at]),
          port: Number(port[at]),
          path: String(path[at]),
          isRecent: recent[at] === true,
        }),
      );
      // Columns of 64 bits are whole numbers of this type.
      own.high.push(high[at] as bigint);
      own.low.push(low[at] as bigint);
      own.requests.push(Number(requests[at]));
      own.lastMs.push(Number(lastMs[at]));
    }
  }

  finish() {
    const { fact, high, low, requests, lastMs } = this.#columns;
    return {
      facts: this.#list,
      fact: Uint32Array.from(fact),
      high: BigUint64Array.from(high),
      low: BigUint64Array.from(low),
      requests: Float64Array.from(requests),
      lastMs: Float64Array.from(lastMs),
    };
  }

  #factOf(facts: VisitorFacts): number {
    const key = JSON.stringify(facts);
    const known = this.#facts.get(key);
    if (known !== undefined) return known;
    this.#facts.set(key, this.#list.length);
    return this.#list.push(facts) - 1;
  }
}
