import { closeSync, fsyncSync, openSync } from 'node:fs';

import { columnNames, columns, schemaVersion } from './columns.ts';
import { quoted } from './engine.ts';

/** A file of decisions is closed when it has so many rows. */
export const partRows = 65_536;
/** Logs have the halves of sources unsigned, as Parquet files of version 1 do. */
const unsigned: Readonly<Record<string, string>> = { source_high: 'UBIGINT', source_low: 'UBIGINT' };
const types = Object.entries({ ...columns, ...unsigned })
  .map(([name, type]) => `${name}: '${type}'`)
  .join(', ');
const halves = Object.keys(unsigned)
  .map(
    (name) =>
      `(${name}::HUGEINT - CASE WHEN ${name} > ${2n ** 63n - 1n} THEN ${2n ** 64n} ELSE 0 END)::BIGINT AS ${name}`,
  )
  .join(', ');
const firstVersion = /-\d+\.parquet$/;

/** How names of Parquet files of decisions end. */
export const decisionsEnd = `.${schemaVersion}.parquet`;

/** Parquet files as one table of SQL; those of decisions may be of any version. */
export function parquetTable(...paths: readonly string[]): string {
  const old = paths.filter((path) => firstVersion.test(path));
  if (old.length === 0) return readParquet(paths);
  const signed = `SELECT * REPLACE (${halves}) FROM ${readParquet(old)}`;
  const others = paths.filter((path) => !old.includes(path));
  return others.length === 0 ? `(${signed})` : `(${signed} UNION ALL BY NAME SELECT * FROM ${readParquet(others)})`;
}

function readParquet(paths: readonly string[]): string {
  return `read_parquet([${paths.map(quoted).join(', ')}])`;
}

/** A log of lines as a table of SQL. */
export function linesTable(path: string): string {
  return (
    `(SELECT * REPLACE (${halves}) FROM read_csv(${quoted(path)}, auto_detect = false, header = false, delim = '\t', quote = '', escape = '', ` +
    `new_line = '\\n', nullstr = '\u001f', max_line_size = 65536, buffer_size = 1048576, ignore_errors = true, columns = {${types}}))`
  );
}

/** The statement that writes decisions, in the order of their numbers, as a Parquet file. */
export function writeDecisions(query: string, path: string): string {
  return (
    `COPY (SELECT ${columnNames} FROM ${query} ORDER BY number) TO ${quoted(path)} ` +
    `(FORMAT parquet, PARQUET_VERSION V2, COMPRESSION zstd, ROW_GROUP_SIZE ${partRows}, KV_METADATA {gatehouse_schema: '${schemaVersion}'})`
  );
}

/** Waits until the disk has the file. */
export function sync(path: string): void {
  const file = openSync(path, 'r+');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
