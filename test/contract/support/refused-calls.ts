import { Ajv2020 } from 'ajv/dist/2020.js';

import { newId } from '../../../src/lib/ids.ts';
import type { CallOptions } from '../../support/gatehouse.ts';
import type { Prepared } from './account.ts';
import { openApi, resolveSchema } from './operations.ts';
import type { ApiOperation, Schema } from './operations.ts';

/** A call that must be refused with a 4xx. */
export interface RefusedCall {
  readonly what: string;
  readonly path?: string;
  readonly body?: unknown;
  readonly options?: CallOptions;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, code: { optimize: false } });
ajv.addSchema(openApi, 'openapi');

const bodyLimitBytes = 1024 * 1024;
const json = { 'content-type': 'application/json' };

/** Returns invalid forms of the call, derived from its description in openapi.json. */
export function refusedCalls(operation: ApiOperation, prepared: Prepared): readonly RefusedCall[] {
  return [
    ...wrongForAll(prepared),
    ...wrongPaths(operation, prepared),
    ...(operation.bodySchema === undefined
      ? [{ what: 'a body', body: { unexpected: 1 } }]
      : wrongBodies(operation.bodySchema, prepared)),
  ];
}

function wrongForAll({ path }: Prepared): readonly RefusedCall[] {
  return [
    { what: 'no key', options: { headers: { authorization: undefined } } },
    { what: 'no version', options: { headers: { 'service-version': undefined } } },
    { what: 'another version', options: { headers: { 'service-version': '3' } } },
    { what: 'an unknown query parameter', path: `${path}?nonsense=true` },
    { what: 'a broken query', path: `${path}?limit=%zz` },
  ];
}

function wrongPaths({ params, bodySchema }: ApiOperation, { path, ids, body }: Prepared): readonly RefusedCall[] {
  return params.flatMap((name, at) => {
    const id = ids[at] ?? '';
    const other = newId(id.split('_', 1)[0] ?? '');
    const unknown = { what: `an unknown ${name}`, path: path.replace(id, other) };
    if (bodySchema === undefined || !isFields(body)) return [unknown];
    return [unknown, { what: `another ${name} in the body`, body: { ...body, [name]: other } }];
  });
}

function wrongBodies(schema: Schema, { body }: Prepared): readonly RefusedCall[] {
  const raw = (what: string, text: string, headers: CallOptions['headers'] = json): RefusedCall => ({
    what,
    options: { raw: text, headers },
  });
  const text = JSON.stringify(body);
  const { properties = {}, type } = resolveSchema(schema);
  return [
    raw('half a body', text.slice(0, -1)),
    raw('two bodies', `${text}${text}`),
    raw('null', 'null'),
    raw('a text', '"text"'),
    raw('a number', '1'),
    { what: 'not UTF-8', options: { raw: Uint8Array.of(0x22, 0xff, 0x22), headers: json } },
    raw('another type', text, { 'content-type': 'application/x-www-form-urlencoded' }),
    raw('no type', text, { 'content-type': '' }),
    raw('a compressed body', text, { ...json, 'content-encoding': 'gzip' }),
    ...(type === 'array' ? [raw('an object', '{}'), raw('nothing', '')] : wrongFields(properties, body, text)),
  ];
}

function wrongFields(
  properties: Readonly<Record<string, Schema>>,
  body: unknown,
  text: string,
): readonly RefusedCall[] {
  const fields = isFields(body) ? body : {};
  return [
    { what: 'a list', body: [body] },
    { what: 'too much', options: { raw: `${' '.repeat(bodyLimitBytes)}${text}`, headers: json } },
    { what: 'an unknown field', body: { ...fields, unknown_field: 1 } },
    { what: 'a field of every object', body: { ...fields, constructor: 1 } },
    {
      what: '__proto__',
      options: { raw: text.replace('{', `{"__proto__":{"x":1}${text === '{}' ? '' : ','}`), headers: json },
    },
    ...Object.entries(properties).flatMap(([name, property]) =>
      wrongValues(property).map((value) => ({
        what: `${name}: ${JSON.stringify(value)?.slice(0, 40)}`,
        body: { ...fields, [name]: value },
      })),
    ),
  ];
}

const known = new Map<string, readonly unknown[]>();

/** Returns values that the schema of a field does not accept. Many operations have the same fields, and a validator takes a millisecond to make. */
function wrongValues(schema: Schema): readonly unknown[] {
  const key = JSON.stringify(schema);
  const values = known.get(key) ?? wrongValuesOf(schema);
  known.set(key, values);
  return values;
}

function wrongValuesOf(schema: Schema): readonly unknown[] {
  const fits = ajv.compile(schema.$ref === undefined ? schema : { $ref: `openapi${schema.$ref}` });
  const candidates: readonly unknown[] = [0, 4.5, true, 'no such word', [], [0], [[]], {}, { unknown_field: 1 }];
  const limit = schema['x-max-bytes'];
  // Each letter has two bytes, so the text has too many bytes but not too many letters.
  const tooLong = limit === undefined ? [] : ['ü'.repeat(limit / 2 + 1), '\ud800'];
  return [...candidates.filter((value) => !fits(value)), ...tooLong];
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
