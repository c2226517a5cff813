import type { FileContent } from './sqlite-file.ts';
import { formatTable } from './text-table.ts';

export function describeContent({ version, tables, bytes }: FileContent): string {
  const rows = tables.map(({ name, rows: count }) => [name, count] as const);
  return `${formatTable(['table', 'rows'], rows)}\n\nversion ${version}, ${bytes} bytes`;
}
