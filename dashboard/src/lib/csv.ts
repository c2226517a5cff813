import { saveFile } from './save-file.ts';

/** Has the browser save rows as a file. */
export function saveCsv(name: string, rows: readonly (readonly string[])[]): void {
  const text = rows.map((row) => `${row.map(cellOf).join(',')}\r\n`).join('');
  saveFile(name, 'text/csv', text);
}

/** A cell that begins with one of these would be a formula to a spreadsheet. */
const formula = /^[=+\-@\t\r]/;

function cellOf(value: string): string {
  const safe = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
