import { listOf, mapOf, string } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import type { HeaderList } from '../../step.ts';

export const headersType = mapOf(string, listOf(string));
export const noValues: readonly string[] = [];

/** Headers as expressions have them: looked up without regard to case; a name that is not there has no values. */
export function headerMap(headers: HeaderList): CelMap {
  const values = new Map<string, string[]>();
  for (let at = 0; at < headers.length; at += 2) {
    const name = (headers[at] ?? '').toLowerCase();
    const known = values.get(name);
    if (known === undefined) values.set(name, [toText(headers[at + 1] ?? '')]);
    else known.push(toText(headers[at + 1] ?? ''));
  }
  return new CelMap(values, { ignoresCase: true, absent: noValues });
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** The bytes of a header as text: UTF-8, or Latin-1 where they are none. */
export function toText(bytes: string): string {
  if (/^[\0-\x7f]*$/.test(bytes)) return bytes;
  try {
    return decoder.decode(Buffer.from(bytes, 'latin1'));
  } catch {
    return bytes;
  }
}

/** The first header of a name, which is given in lower case. */
export function firstOf(headers: HeaderList, lowerName: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2)
    if (headers[at]?.toLowerCase() === lowerName) return toText(headers[at + 1] ?? '');
  return undefined;
}

/** The media type alone, in lower case. */
export function mediaTypeOf(value: string): string {
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase();
}

export function parametersOf(value: string): CelMap {
  const parameters = value.split(';').slice(1);
  return new CelMap(
    parameters.flatMap((parameter) => {
      const mark = parameter.indexOf('=');
      if (mark < 0) return [];
      const name = parameter.slice(0, mark).trim().toLowerCase();
      return [
        [
          name,
          parameter
            .slice(mark + 1)
            .trim()
            .replace(/^"(.*)"$/, '$1'),
        ] as const,
      ];
    }),
  );
}

export function lengthOf(value: string | undefined): bigint | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value) ? BigInt(value) : undefined;
}

/** Names of a list such as that of Content-Encoding. */
export function namesOf(value: string | undefined): readonly string[] {
  return (value ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
}
