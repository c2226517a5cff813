import type { TSchema } from 'typebox';

import { quote, UserError } from '../errors/user-error.ts';
import { checkShape } from './body-shape.ts';
import { bodyUnreadable, contentTypeMissing, pathMismatch, unsupportedMediaType } from './errors.ts';
import type { Operation } from './operation.ts';
import { describeValue } from './validation.ts';

/** Largest body that is read, unless an operation says otherwise. */
export const bodyLimitBytes = 1024 * 1024;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const byteOrderMark = '\u{feff}';

/** Parses the body of a request; undefined when there was none. */
export function parseBody(contentType: string | undefined, encoding: string | undefined, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  checkMediaType(contentType, encoding, ['application/json']);
  return parseJson(bytes);
}

/** Returns the type, without its parameters, of a body that is one of these. */
export function checkMediaType(
  contentType: string | undefined,
  encoding: string | undefined,
  types: readonly string[],
): string {
  if (encoding !== undefined && encoding !== 'identity') throw unsupported('Content-Encoding', encoding);
  if (contentType === undefined || contentType === '') throw new UserError(contentTypeMissing);
  const type = mediaType(contentType);
  if (!types.includes(type)) throw unsupported('Content-Type', contentType);
  return type;
}

export function unsupported(header: 'Content-Type' | 'Content-Encoding', value: string): UserError {
  return new UserError(unsupportedMediaType, { header, value: quote(value) });
}

function mediaType(contentType: string): string {
  return (contentType.split(';', 1)[0] ?? '').trim().toLowerCase();
}

export function decodeText(bytes: Buffer): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw new UserError(bodyUnreadable, { reason: 'it is not UTF-8 text' });
  }
}

function parseJson(bytes: Buffer): unknown {
  checkShape(bytes);
  const text = decodeText(bytes);
  try {
    return JSON.parse(text.startsWith(byteOrderMark) ? text.slice(1) : text);
  } catch (error) {
    // The parser's message quotes the body, which may hold a secret: only the position is repeated.
    const place = /at position \d+|Unexpected end/.exec(error instanceof Error ? error.message : '')?.[0];
    throw new UserError(bodyUnreadable, {
      reason: place === undefined ? 'it is not valid JSON' : `it is not valid JSON (${place})`,
    });
  }
}

type Fields = Record<string, unknown>;

/**
 * Brings the forms in which the official clients send a body to one: no body is `{}`, a module may come wrapped, path
 * parameters may be repeated, and `null` stands for an absent field.
 */
export function normalizeBody(
  { bodyForm, body: schema }: Operation,
  params: Readonly<Record<string, string>>,
  body: unknown,
  named: ReadonlyMap<string, TSchema>,
): unknown {
  // Also where a list belongs: a request that lost its body must not empty one.
  if (body === undefined) return {};
  if (bodyForm === 'list') return normalizeList(body, schema, named);
  if (!isFields(body)) throw new UserError(bodyUnreadable, { reason: 'it is JSON, but not an object' });
  let fields = withoutPathParameters(body, params, schema);
  if (bodyForm === 'module' && Object.hasOwn(fields, 'module')) {
    const { module, ...others } = fields;
    if (module === null && Object.keys(others).length === 0) return {};
    if (isFields(module) && Object.keys(others).length === 0) fields = module;
  }
  return schema === undefined ? fields : withoutNulls(fields, schema, named);
}

function normalizeList(body: unknown, schema: TSchema | undefined, named: ReadonlyMap<string, TSchema>): unknown {
  if (!Array.isArray(body)) return body;
  const entry = entrySchema(schema);
  return body.map((each: unknown) => (isFields(each) && entry !== undefined ? withoutNulls(each, entry, named) : each));
}

/** The form of those entries of a list that are objects. */
function entrySchema(list: TSchema | undefined): TSchema | undefined {
  // A TypeBox array schema holds the form of its entries here, and a union its members.
  const items = list !== undefined && 'items' in list ? (list.items as TSchema) : undefined;
  const forms = items !== undefined && 'anyOf' in items ? (items.anyOf as readonly TSchema[]) : [items];
  return forms.find((form) => form !== undefined && 'properties' in form);
}

function withoutPathParameters(body: Fields, params: Readonly<Record<string, string>>, schema?: TSchema): Fields {
  const fields = { ...body };
  for (const [name, value] of Object.entries(params)) {
    if (!Object.hasOwn(fields, name) || Object.hasOwn(propertiesOf(schema), name)) continue;
    const given = fields[name];
    if (given !== value && given !== null && given !== undefined) {
      throw new UserError(pathMismatch, { field: name, given: describeValue(given), path: quote(value) });
    }
    delete fields[name];
  }
  return fields;
}

function withoutNulls(value: Fields, schema: TSchema, named: ReadonlyMap<string, TSchema>): Fields {
  const properties = propertiesOf(schema);
  const entries = Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (property === undefined) return [[name, field]];
    if (field === null) return [];
    const target = resolve(property, named);
    return [[name, isFields(field) ? withoutNulls(field, target, named) : field]];
  });
  return Object.fromEntries(entries);
}

function resolve(schema: TSchema, named: ReadonlyMap<string, TSchema>): TSchema {
  const reference = '$ref' in schema ? String(schema.$ref) : undefined;
  return (reference === undefined ? undefined : named.get(reference)) ?? schema;
}

function propertiesOf(schema: TSchema | undefined): Readonly<Record<string, TSchema>> {
  // A TypeBox object schema holds its fields here; others have none.
  return schema !== undefined && 'properties' in schema ? (schema.properties as Record<string, TSchema>) : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
