import type { HeaderList } from './step.ts';

/** The values of all headers of this name, which is given in lower case. */
export function headerValues(headers: HeaderList, lowerName: string): readonly string[] {
  const values: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name.length === lowerName.length && name.toLowerCase() === lowerName) values.push(headers[at + 1] ?? '');
  }
  return values;
}
