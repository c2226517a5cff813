import { oneLine } from '../lib/terminal-text.ts';

type Row = Readonly<Record<string, unknown>>;

/** Characters of a cell that a terminal shows. */
const cellWidth = 48;
/** Long for a terminal, and of no use in it. */
const unshown = new Set(['uri', 'metadata']);

/** Fields by which people know an entry, most telling first; the others follow as they come. */
const telling = [
  'id',
  'name',
  'domain',
  'hostports',
  'address',
  'cidr',
  'action',
  'kind',
  'state',
  'description',
  'type',
  'role',
  'enforced',
  'created_at',
  'owner',
  'actor',
  'resource_id',
];
/** Columns that are left out first. */
const leastTelling = new Set(['version', 'operation_id']);

const gap = '  ';

/** Rows of a list, under the names of their fields; fields that no row has, or that have no room, are left out. */
export function drawRows(rows: readonly unknown[], width?: number): readonly string[] {
  if (rows.length === 0) return ['None.'];
  const all = columnsOf(rows);
  if (all.length === 0) return rows.map((row) => cut(cell(row)));
  const texts = new Map(
    all.map((name) => [name, [heading(name), ...rows.map((row) => cut(cell(fieldOf(row, name))))]] as const),
  );
  const widthOf = (name: string) => Math.max(...(texts.get(name) ?? []).map(({ length }) => length));
  const shown = width === undefined ? all : fitting(all, widthOf, width);
  const lines = Array.from({ length: rows.length + 1 }, (_, at) =>
    shown
      .map((name) => (texts.get(name)?.[at] ?? '').padEnd(widthOf(name)))
      .join(gap)
      .trimEnd(),
  );
  const hidden = all.filter((name) => !shown.includes(name));
  if (hidden.length === 0) return lines;
  return [...lines, `(no room for ${hidden.join(', ')}: -o json has all)`];
}

/** The columns that fit beside each other, in their order; the first one always. */
function fitting(all: readonly string[], widthOf: (name: string) => number, width: number): readonly string[] {
  const rank = (name: string) =>
    telling.includes(name) ? telling.indexOf(name) : telling.length + (leastTelling.has(name) ? 1 : 0);
  const kept = new Set<string>();
  let used = -gap.length;
  for (const name of all.toSorted((a, b) => rank(a) - rank(b))) {
    if (kept.size > 0 && used + gap.length + widthOf(name) > width) continue;
    kept.add(name);
    used += gap.length + widthOf(name);
  }
  return all.filter((name) => kept.has(name));
}

/** One document, a line for each field; entries of a list in it have a table of their own below. */
export function drawDocument(document: Row, width?: number): readonly string[] {
  const fields = Object.entries(document).filter(([, value]) => value !== null && value !== undefined);
  const plain = fields.filter(([, value]) => !isTable(value));
  const nameWidth = Math.max(0, ...plain.map(([name]) => name.length));
  const tables = fields.flatMap(([name, value]) => (isTable(value) ? ['', `${name}:`, ...drawRows(value, width)] : []));
  return [...plain.map(([name, value]) => `${name.padEnd(nameWidth)}  ${cell(value)}`.trimEnd()), ...tables];
}

/** A list of more than references and texts. */
function isTable(value: unknown): value is readonly unknown[] {
  const isEntry = (each: unknown) => isRow(each) && Object.keys(each).some((name) => name !== 'id' && name !== 'uri');
  return Array.isArray(value) && value.some(isEntry);
}

function columnsOf(rows: readonly unknown[]): readonly string[] {
  const names = new Set(rows.filter(isRow).flatMap((row) => Object.keys(row)));
  return [...names].filter((name) => !unshown.has(name) && rows.some((row) => cell(fieldOf(row, name)) !== ''));
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '';
  // A certificate tells nobody anything.
  if (typeof value === 'string') return value.startsWith('-----BEGIN ') ? '' : oneLine(value.replaceAll(/\s+/g, ' '));
  if (Array.isArray(value)) return value.some(isRow) ? listCell(value) : value.map(cell).join(',');
  if (!isRow(value)) return JSON.stringify(value);
  const { id, state, cause, kind, address, port, weight } = value;
  // A reference, or a resource inside another one, is known by its id.
  if (typeof id === 'string') return cell(id);
  // State of an address as a gateway sees it.
  if (typeof state === 'string') return [state, cell(cause)].filter(Boolean).join(': ');
  if (typeof address !== 'string') {
    const [only, ...others] = Object.values(value);
    return typeof only === 'boolean' && others.length === 0 ? String(only) : oneLine(JSON.stringify(value));
  }
  const place = port === undefined ? address : `${address}:${cell(port)}`;
  return [cell(kind), cell(place), weight === undefined || weight === 1 ? '' : `(weight ${cell(weight)})`]
    .filter(Boolean)
    .join(' ');
}

/** Entries that are alike stand there once. */
function listCell(values: readonly unknown[]): string {
  const counts = new Map<string, number>();
  for (const text of values.map(cell)) counts.set(text, (counts.get(text) ?? 0) + 1);
  return [...counts].map(([text, count]) => (count > 1 ? `${count} times ${text}` : text)).join(', ');
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
