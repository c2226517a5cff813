import { foldName } from './http-syntax.ts';

/** Functions on lists of headers: name, value, name, value, … */

/** Writes header lines, each with its line end. */
export function formatHeaders(list: readonly string[]): string {
  let text = '';
  for (let at = 0; at < list.length; at += 2) text += `${list[at]}: ${list[at + 1]}\r\n`;
  return text;
}

/**
 * Returns the value of the header of this name, which is given in lower case, if there is no second one: no other of the name,
 * and none that upstreams may take for it because it differs in punctuation alone.
 */
export function findOnlyHeader(headers: readonly string[], lowerName: string): string | undefined {
  const folded = foldName(lowerName);
  let value: string | undefined;
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name.length !== lowerName.length || foldName(name.toLowerCase()) !== folded) continue;
    if (value !== undefined || name.toLowerCase() !== lowerName) return undefined;
    value = headers[at + 1];
  }
  return value;
}

/** Returns the value of the first header of this name, which is given in lower case. */
export function findHeader(headers: readonly string[], lowerName: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name.length === lowerName.length && name.toLowerCase() === lowerName) return headers[at + 1];
  }
  return undefined;
}

/** The values of all headers of this name, which is given in lower case. */
export function headerValues(headers: readonly string[], lowerName: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name.length === lowerName.length && name.toLowerCase() === lowerName) values.push(headers[at + 1] ?? '');
  }
  return values;
}

/** The headers whose names pass. */
export function keepPairs(list: readonly string[], keeps: (name: string) => boolean): string[] {
  const kept: string[] = [];
  for (let at = 0; at < list.length; at += 2) {
    const name = list[at] ?? '';
    if (keeps(name)) kept.push(name, list[at + 1] ?? '');
  }
  return kept;
}
