import { oneLine } from '../lib/terminal-text.ts';

type Row = Readonly<Record<string, unknown>>;

/** Characters of a cell that a terminal shows. */
const cellWidth = 48;
/** Long for a terminal, and of no use in it. */
const unshown = new Set(['uri', 'metadata']);

/** Rows of a list, under the names of their fields; fields that no row has are left out. */
export function drawRows(rows: readonly unknown[]): readonly string[] {
  if (rows.length === 0) return ['None.'];
  const columns = columnsOf(rows);
  if (columns.length === 0) return rows.map((row) => cut(cell(row)));
  const lines = [columns.map(heading), ...rows.map((row) => columns.map((name) => cut(cell(fieldOf(row, name)))))];
  const widths = columns.map((_, at) => lines.reduce((most, line) => Math.max(most, line[at]?.length ?? 0), 0));
  return lines.map((line) =>
    line
      .map((text, at) => text.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}

/** One document, a line for each field. */
export function drawDocument(document: Row): readonly string[] {
  const fields = Object.entries(document).filter(([, value]) => value !== null && value !== undefined);
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.padEnd(width)}  ${cell(value)}`.trimEnd());
}

function columnsOf(rows: readonly unknown[]): readonly string[] {
  const names = new Set(rows.filter(isRow).flatMap((row) => Object.keys(row)));
  return [...names].filter((name) => !unshown.has(name) && rows.some((row) => cell(fieldOf(row, name)) !== ''));
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return oneLine(value.replaceAll(/\s+/g, ' '));
  if (Array.isArray(value)) return value.map(cell).join(',');
  if (!isRow(value)) return JSON.stringify(value);
  // A reference, or a resource inside another one, is known by its id.
  return typeof value['id'] === 'string' ? value['id'] : oneLine(JSON.stringify(value));
}

function cut(text: string): string {
  return text.length > cellWidth ? `${text.slice(0, cellWidth - 1)}…` : text;
}

function heading(name: string): string {
  return name.toUpperCase().replaceAll('_', ' ');
}

function fieldOf(row: unknown, name: string): unknown {
  return isRow(row) ? row[name] : undefined;
}

function isRow(value: unknown): value is Row {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
