import { Type } from 'typebox';

import { text } from '../../../api/body/text-fields.ts';
import { quote, UserError } from '../../../errors/user-error.ts';
import * as errors from '../errors.ts';
import { faultOfUrl } from './target-kind.ts';
import type { TargetKind } from './target-kind.ts';

const url = text(
  2048,
  'URL of an OpenTelemetry collector; `/v1/logs` is added where it is missing. http or https. Max 2048 bytes.',
  'https://collector.example.com:4318',
);
const headers = Type.Array(
  Type.Object(
    {
      name: text(64, 'Name of the header.', 'authorization'),
      value: text(2048, 'Its value. It is never returned.', 'Bearer 0123456789'),
    },
    { additionalProperties: false, description: 'One header.' },
  ),
  {
    description:
      'Headers of each request, such as one with a key. https only. An update may leave them out while the URL stays as it is.',
    maxItems: 10,
    examples: [[{ name: 'authorization', value: 'Bearer 0123456789' }]],
  },
);
const headerNames = Type.Array(Type.String(), { description: 'Names of the headers that are sent.' });
/** Those that the request has anyway, and those that are of the connection. */
const reserved =
  /^(host|connection|content-.*|transfer-encoding|user-agent|expect|upgrade|te|trailer|keep-alive|proxy-.*)$/;

interface Given {
  readonly url: string;
  readonly headers?: readonly { readonly name: string; readonly value: string }[];
}

export const otlpTarget: TargetKind<'otlp', Given> = {
  input: Type.Object(
    { url, headers: Type.Optional(headers) },
    { additionalProperties: false, description: 'An OpenTelemetry collector, which gets log records over OTLP/HTTP.' },
  ),
  view: Type.Object({ url, header_names: headerNames }, { description: 'The collector, without values of headers.' }),
  accept(given, previous) {
    const fault = faultOfUrl(given.url, ['https:', 'http:']);
    if (fault !== undefined) throw new UserError(errors.unusableCollector, { reason: fault });
    if (given.headers === undefined && previous !== undefined && previous.header_names.length > 0) {
      if (previous.url !== given.url)
        throw new UserError(errors.unusableCollector, {
          reason: 'its headers are kept only while the URL stays, and are missing',
        });
      return { kept: previous, secret: undefined };
    }
    const pairs = (given.headers ?? []).map(({ name, value }) => [name.toLowerCase(), value] as const);
    const reason = faultOfHeaders(pairs, given.url);
    if (reason !== undefined) throw new UserError(errors.unusableCollector, { reason });
    const names = pairs.map(([name]) => name);
    return { kept: { url: given.url, header_names: names }, secret: Object.fromEntries(pairs) };
  },
  // Only `accept` makes what is sealed.
  open: (kept, sealed) => ({
    kind: 'otlp',
    url: kept.url,
    headers: (sealed ?? {}) as Readonly<Record<string, string>>,
  }),
};

/** Never repeats a value. */
function faultOfHeaders(pairs: readonly (readonly [string, string])[], to: string): string | undefined {
  if (pairs.length > 0 && !to.startsWith('https:')) return 'headers are only sent to https:// URLs';
  const seen = new Set<string>();
  for (const [name, value] of pairs) {
    if (!/^[a-z0-9!#$%&'*+.^_`|~-]+$/.test(name)) return `${quote(name)} is no name of a header`;
    if (reserved.test(name)) return `the header ${quote(name)} cannot be chosen`;
    if (seen.has(name)) return `the header ${quote(name)} is there more than once`;
    if (!/^[\u0021-\u007e]([\u0020-\u007e]*[\u0021-\u007e])?$/.test(value))
      return `the value of the header ${quote(name)} has characters that a header cannot have`;
    seen.add(name);
  }
  return undefined;
}
