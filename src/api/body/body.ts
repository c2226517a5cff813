import { isUtf8 } from 'node:buffer';

import type { TSchema } from 'typebox';

import { quote, UserError } from '../../errors/user-error.ts';
import { checkShape } from './body-shape.ts';
import { bodyUnreadable, contentTypeMissing, pathMismatch, unsupportedMediaType } from '../errors.ts';
import type { Operation } from '../operation.ts';
import { describeValue } from './validation.ts';

/** Largest body that is read, unless an operation says otherwise. */
export const bodyLimitBytes = 1024 * 1024;

const byteOrderMark = '\u{feff}';

/** Parses the body of a request; undefined when there was none. */
export function parseBody(contentType: string | undefined, encoding: string | undefined, bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined;
  checkMediaType(contentType, encoding, ['application/json']);
  return parseJson(bytes);
}

/** Takes the place of `parseBody` where whatever is no object counts as no body. */
export function parseObject(_contentType: string | undefined, _encoding: string | undefined, bytes: Buffer): unknown {
  try {
    const body = parseJson(bytes);
    return isFields(body) ? body : undefined;
  } catch (error) {
    if (error instanceof UserError) return undefined;
    throw error;
  }
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
  if (!isUtf8(bytes)) throw new UserError(bodyUnreadable, { reason: 'it is not UTF-8 text' });
  return bytes.toString('utf8');
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

export interface NormalizedBody {
  readonly body: unknown;
  /** Fields that the answer shows and the body does not take, or takes in another form. */
  readonly readOnly?: Fields;
}

type Named = ReadonlyMap<string, TSchema>;

/**
 * Brings the forms in which clients send a body to one: no body is `{}`, a module may come wrapped, path parameters may be
 * repeated, and `null` stands for an absent field, for every field that the resource shows.
 */
export function normalizeBody(
  { bodyForm, body: schema, response, takesReadOnly, shownAs }: Operation,
  params: Readonly<Record<string, string>>,
  body: unknown,
  named: Named,
): NormalizedBody {
  // Also where a list belongs: a request that lost its body must not empty one.
  if (body === undefined) return { body: {} };
  if (bodyForm === 'list') return { body: normalizeList(body, schema, named, shownAs) };
  if (!isFields(body)) throw new UserError(bodyUnreadable, { reason: 'it is JSON, but not an object' });
  let fields = withoutPathParameters(body, params, schema);
  if (bodyForm === 'module' && Object.hasOwn(fields, 'module')) {
    const { module, ...others } = fields;
    if (module === null && Object.keys(others).length === 0) return { body: {} };
    if (isFields(module) && Object.keys(others).length === 0) fields = module;
  }
  if (schema === undefined) return { body: fields };
  const accepted = withoutNulls(fields, schema, response, named);
  return takesReadOnly === true ? splitReadOnly(accepted, schema, response, named) : { body: accepted };
}

function normalizeList(
  body: unknown,
  schema: TSchema | undefined,
  named: Named,
  shownAs: Operation['shownAs'],
): unknown {
  const list = shownAs !== undefined && isFields(body) ? listOnPage(body, shownAs.key) : body;
  if (!Array.isArray(list)) return list;
  const forms = entryForms(schema, named);
  return list.map((each: unknown) => {
    const form = isFields(each) ? formOf(each, forms) : undefined;
    if (!isFields(each) || form === undefined) return each;
    const entry = withoutNulls(each, form, undefined, named);
    for (const name of shownAs?.entryFields ?? []) delete entry[name];
    return entry;
  });
}

/** A part of a list is refused: what is not on the page would be lost. */
function listOnPage(page: Fields, key: string): unknown {
  const { [key]: list, uri, next_page_uri: next, totals: _, ...others } = page;
  if (!Array.isArray(list) || Object.keys(others).length > 0) return page;
  if (typeof next === 'string' || String(uri).includes('?')) {
    const reason = `it is one page, or a filtered part, of the list: send all its entries together, as {"${key}":[…]}`;
    throw new UserError(bodyUnreadable, { reason });
  }
  return list;
}

/** The forms of those entries of a list that are objects. */
function entryForms(list: TSchema | undefined, named: ReadonlyMap<string, TSchema>): readonly TSchema[] {
  // A TypeBox array schema holds the form of its entries here, and a union its members.
  const items = list !== undefined && 'items' in list ? (list.items as TSchema) : undefined;
  if (items === undefined) return [];
  const members = 'anyOf' in items ? items.anyOf : 'oneOf' in items ? items.oneOf : [items];
  return (members as readonly TSchema[]).map((form) => resolve(form, named)).filter((form) => 'properties' in form);
}

/** Where there are several forms, the field `kind` tells them apart. */
function formOf(entry: Fields, forms: readonly TSchema[]): TSchema | undefined {
  if (forms.length < 2) return forms[0];
  return forms.find((form) => kindOf(form) === entry['kind']);
}

function kindOf(form: TSchema): unknown {
  const { kind } = propertiesOf(form);
  return kind !== undefined && 'const' in kind ? kind.const : undefined;
}

/** The kinds that entries of a list may have; none where they are of one form. */
export function entryKinds(list: TSchema | undefined, named: Named): readonly string[] {
  return entryForms(list, named)
    .map(kindOf)
    .filter((kind) => typeof kind === 'string');
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

function withoutNulls(value: Fields, schema: TSchema, view: TSchema | undefined, named: Named): Fields {
  const properties = propertiesOf(schema);
  const shown = propertiesOf(view);
  const entries = Object.entries(value).flatMap(([name, field]): [string, unknown][] => {
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
    const viewed = Object.hasOwn(shown, name) ? shown[name] : undefined;
    if (field === null && (property ?? viewed) !== undefined) return [];
    if (property === undefined || !isFields(field)) return [[name, field]];
    return [[name, withoutNulls(field, resolve(property, named), viewed && resolve(viewed, named), named)]];
  });
  return Object.fromEntries(entries);
}

/** Takes out what stands in the body as the answer shows it, and not as a body has it. */
function splitReadOnly(fields: Fields, schema: TSchema, view: TSchema | undefined, named: Named): NormalizedBody {
  const body: Fields = {};
  const readOnly: Fields = {};
  for (const [name, field] of Object.entries(fields)) {
    const isReadOnly = isShownForm(name, field, schema, view, named);
    Object.defineProperty(isReadOnly ? readOnly : body, name, { value: field, enumerable: true, writable: true });
  }
  return { body, readOnly };
}

function isShownForm(name: string, field: unknown, schema: TSchema, view: TSchema | undefined, named: Named): boolean {
  const [taken, shown] = [propertiesOf(schema), propertiesOf(view)];
  const viewed = Object.hasOwn(shown, name) ? shown[name] : undefined;
  if (viewed === undefined) return false;
  const property = Object.hasOwn(taken, name) ? taken[name] : undefined;
  if (property === undefined) return true;
  // A module shows what it refers to, where a body has ids only.
  if (!isFields(field)) return false;
  const [input, whole] = [resolve(property, named), resolve(viewed, named)];
  return Object.keys(field).some((key) => isShownForm(key, undefined, input, whole, named));
}

function resolve(schema: TSchema, named: ReadonlyMap<string, TSchema>): TSchema {
  const reference = '$ref' in schema ? String(schema.$ref) : undefined;
  return (reference === undefined ? undefined : named.get(reference)) ?? schema;
}

export function propertiesOf(schema: TSchema | undefined): Readonly<Record<string, TSchema>> {
  // A TypeBox object schema holds its fields here; others have none.
  return schema !== undefined && 'properties' in schema ? (schema.properties as Record<string, TSchema>) : {};
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
