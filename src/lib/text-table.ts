/** Columns side by side, numbers to the right. */
export function formatTable(header: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  const widths = header.map((title, at) =>
    rows.reduce((most, row) => Math.max(most, String(row[at] ?? '').length), title.length),
  );
  const line = (cells: readonly (string | number)[], isNumber: (at: number) => boolean) =>
    widths
      .map((width, at) =>
        isNumber(at) ? String(cells[at] ?? '').padStart(width) : String(cells[at] ?? '').padEnd(width),
      )
      .join('  ')
      .trimEnd();
  const numeric = (at: number) => typeof rows[0]?.[at] === 'number';
  return [line(header, numeric), ...rows.map((row) => line(row, numeric))].join('\n');
}
