import { oneLine } from '../../lib/terminal-text.ts';

/** Fields by which people know a resource, most telling first. */
const telling = ['description', 'name', 'domain', 'hostports', 'match', 'address', 'cidr'];
const longestText = 80;

/** Name that people give a resource; empty if it has nothing but an id. */
export function labelOf(document: unknown): string {
  const fields = fieldsOf(document);
  const found = telling.map((name) => fields[name]).find((value) => value !== undefined && value !== '');
  return found === undefined || found === null ? '' : shorten(found);
}

/** A value on one line, cut. */
export function shorten(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  const text = oneLine(JSON.stringify(value) ?? '');
  return text.length > longestText ? `${text.slice(0, longestText)}…` : text;
}

export function fieldsOf(value: unknown): Readonly<Record<string, unknown>> {
  // Neither null nor a list.
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  return isObject ? (value as Readonly<Record<string, unknown>>) : {};
}
