import { isUtf8 } from 'node:buffer';

import { findHeader } from '../../../lib/header-list.ts';
import { listOf, mapOf, string } from '../../../lib/cel/types.ts';
import { CelMap } from '../../../lib/cel/values.ts';
import { addTo } from '../../../lib/lists-by-key.ts';
import type { HeaderList } from '../../step.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import type { Variables } from './variable.ts';

export const headersType = mapOf(string, listOf(string));
export const noValues: readonly string[] = [];

/** Headers as expressions have them: looked up without regard to case; a name that is not there has no values. */
export function headerMap(headers: HeaderList): CelMap {
  const values = new Map<string, string[]>();
  for (let at = 0; at < headers.length; at += 2)
    addTo(values, (headers[at] ?? '').toLowerCase(), toText(headers[at + 1] ?? ''));
  return new CelMap(values, { ignoresCase: true, absent: noValues });
}

/** The bytes of a header as text: UTF-8, or Latin-1 where they are none. */
export function toText(bytes: string): string {
  if (/^[\0-\x7f]*$/.test(bytes)) return bytes;
  // A decoder that throws would take a hundred times as long.
  const read = Buffer.from(bytes, 'latin1');
  return isUtf8(read) ? read.toString('utf8') : bytes;
}

/** The first header of a name, which is given in lower case. */
export function firstOf(headers: HeaderList, lowerName: string): string | undefined {
  const found = findHeader(headers, lowerName);
  return found === undefined ? undefined : toText(found);
}

/** What is made of a header that is read part by part. */
function readOnce<Made>(visit: PolicyVisit, name: string, value: string, read: (value: string) => Made): Made {
  return visit.cached(name, value, () => {
    visit.spend(value.length / 4);
    return read(value);
  });
}

/** Variables of the type and the coding of a body. `header` finds a header of its message. */
export function contentVariables(
  prefix: string,
  header: (visit: PolicyVisit, name: string) => string | undefined,
): Variables {
  const typeOf = (visit: PolicyVisit): string => header(visit, 'content-type') ?? '';
  const [parameters, encoding] = [`${prefix}.content_type.parameters`, `${prefix}.content_encoding`];
  return {
    [`${prefix}.content_type`]: { type: string, isSure: true, get: (visit) => mediaTypeOf(typeOf(visit)) },
    [`${prefix}.content_type.raw`]: { type: string, isSure: true, get: typeOf },
    [parameters]: {
      type: mapOf(string, string),
      isSure: true,
      get: (visit) => readOnce(visit, parameters, typeOf(visit), parametersOf),
    },
    [encoding]: {
      type: listOf(string),
      isSure: true,
      get: (visit) => readOnce(visit, encoding, header(visit, 'content-encoding') ?? '', namesOf),
    },
  };
}

/** The media type alone, in lower case. */
function mediaTypeOf(value: string): string {
  return (value.split(';', 1)[0] ?? '').trim().toLowerCase();
}

function parametersOf(value: string): CelMap {
  const [, ...parameters] = value.split(';');
  return new CelMap(
    parameters.flatMap((parameter) => {
      const mark = parameter.indexOf('=');
      const [name, given] = [parameter.slice(0, mark).trim(), parameter.slice(mark + 1).trim()];
      return mark < 0 ? [] : [[name.toLowerCase(), given.replace(/^"(.*)"$/, '$1')] as const];
    }),
  );
}

export function lengthOf(value: string | undefined): bigint | undefined {
  return value !== undefined && /^\d{1,15}$/.test(value) ? BigInt(value) : undefined;
}

/** Names of a list such as that of Content-Encoding. */
function namesOf(value: string): readonly string[] {
  return value
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '');
}
