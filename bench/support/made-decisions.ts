import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

import { openEngine } from '../../src/decisions/engine.ts';
import { Summaries } from '../../src/decisions/summaries.ts';
import { decisionsEnd, parquetTable, partRows, writeDecisions } from '../../src/decisions/tables.ts';

interface Wanted {
  readonly folder: string;
  readonly accountId: string;
  readonly rows: number;
  readonly beginMs: number;
  readonly endMs: number;
}

/** As `kept.ts` has them. */
const edgeCount = 50;

/**
 * Makes closed files of decisions as `visit` in `kept.ts` does, but by the engine: a hundred million would take hours through the store. Files are written by the store's own statement, and summed up by its own code.
 */
export async function makeDecisions({ folder, accountId, rows, beginMs, endMs }: Wanted): Promise<void> {
  for (const each of ['open', 'temporary', 'summaries', join('accounts', accountId)])
    mkdirSync(join(folder, each), { recursive: true });
  const instance = await openEngine({ folder, days: 8, maxBytes: 2 ** 40, archive: undefined });
  const writer = await instance.connect();
  const summaries = new Summaries({ folder, writer, counted: () => {} });
  const timeOf = (row: number): number => Math.floor(beginMs + (row * (endMs - beginMs)) / rows);
  // Numbers grow by one at least, also where several decisions are of one millisecond.
  const numberOf = (row: number): number => beginMs * 1000 + Math.floor((row * (endMs - beginMs) * 1000) / rows);
  await writer.run(`CREATE TEMP TABLE visits AS ${visits(partRows)}`);
  // The newest first: a run that is ended has those of all hours but the oldest.
  for (let first = Math.floor((rows - 1) / partRows) * partRows; first >= 0; first -= partRows) {
    const last = Math.min(first + partRows, rows) - 1;
    const [minAtMs, maxAtMs] = [timeOf(first), timeOf(last)];
    const [firstNumber, lastNumber] = [numberOf(first), numberOf(last)];
    const name = `${minAtMs}-${maxAtMs}-${firstNumber}-${lastNumber}${decisionsEnd}`;
    const path = join(folder, 'accounts', accountId, name);
    if (existsSync(path)) continue;
    const unfinished = join(folder, 'temporary', 'made.parquet');
    await writer.run(writeDecisions(`(${shifted(first, last)})`, unfinished));
    renameSync(unfinished, path);
    const part = { accountId, path, table: parquetTable(path), rows: last - first + 1 };
    const bytes = statSync(path).size;
    await summaries.sumUp({ ...part, firstNumber, lastNumber, minAtMs, maxAtMs, bytes });
  }
  writer.closeSync();
  instance.closeSync();

  /** The visits as those of some rows: their times and sources are their own. */
  function shifted(from: number, to: number): string {
    const timeOfRow = (begin: number, units: number): string =>
      `(${begin} + (${from} + row)::HUGEINT * ${(endMs - beginMs) * units} // ${rows})::BIGINT`;
    return `
      SELECT * EXCLUDE (row, address), ${timeOfRow(beginMs, 1)} AS at_ms, ${timeOfRow(beginMs * 1000, 1000)} AS number,
        concat_ws('.', address >> 24, (address >> 16) & 255, (address >> 8) & 255, address & 255) AS source,
        281470681743360 + address AS source_low
      FROM (SELECT *, CASE WHEN hash(row, ${from}, 1) % 100000 = 0 THEN 3325256711
        ELSE 167772160 + hash(row, ${from}) % 1000000 END::BIGINT AS address FROM visits WHERE row <= ${to - from})`;
  }
}

/** Visits without times and sources. */
function visits(count: number): string {
  const random = (salt: number, below: number): string => `(hash(row, ${salt}) % ${below})::INTEGER`;
  return `
    SELECT * EXCLUDE (edge, is_refused), CASE WHEN is_refused THEN 403 WHEN ${random(1, 100)} = 0 THEN 502 ELSE 200 END AS status,
      CASE WHEN is_refused THEN 'refused' ELSE 'allowed' END AS verdict, CASE WHEN is_refused THEN 3203 ELSE 0 END AS code,
      CASE WHEN is_refused THEN 'ip_restriction' ELSE '' END AS module,
      CASE WHEN is_refused THEN '' ELSE concat('bkdstc_', edge) END AS backend_id,
      CASE WHEN is_refused THEN -1 ELSE 100 + ${random(2, 40_000)} END::BIGINT AS upstream_us,
      concat('edghts_', edge) AS edge_id, concat('edghtsrt_', edge * 2 + ${random(3, 2)}) AS route_id,
      concat('shop-', edge, '.example.com') AS host
    FROM (
      SELECT row, ${random(4, edgeCount)} AS edge, ${random(5, 50)} = 0 AS is_refused, 0::BIGINT AS source_high,
        'https' AS kind, '' AS request_id, 0 AS port, CASE WHEN ${random(8, 10)} = 0 THEN 'POST' ELSE 'GET' END AS method,
        concat('/products/', ${random(9, 5_000)}) AS path, '2' AS protocol, '' AS rule, '' AS would_be_refused_by,
        '' AS reason, '' AS person, (200 + ${random(10, 50_000)})::BIGINT AS duration_us, 0::BIGINT AS bytes_in,
        ${random(11, 20_000)}::BIGINT AS bytes_out, 7::BIGINT AS configuration_version, 1 + ${random(12, 2)} AS worker
      FROM (SELECT range AS row FROM range(${count})))`;
}
