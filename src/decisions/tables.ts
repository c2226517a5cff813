import { closeSync, fsyncSync, openSync } from 'node:fs';

import { columns } from './columns.ts';
import { quoted } from './engine.ts';

const types = Object.entries(columns)
  .map(([name, type]) => `${name}: '${type}'`)
  .join(', ');

/** Parquet files as one table of SQL. */
export function parquetTable(...paths: readonly string[]): string {
  return `read_parquet([${paths.map(quoted).join(', ')}])`;
}

/** A log of lines as a table of SQL. */
export function linesTable(path: string): string {
  return (
    `read_csv(${quoted(path)}, auto_detect = false, header = false, delim = '\t', quote = '', escape = '', ` +
    `new_line = '\\n', nullstr = '\u001f', max_line_size = 65536, buffer_size = 1048576, ignore_errors = true, columns = {${types}})`
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
