import type { TSchema } from 'typebox';

import { quote, UserError } from '../../errors/user-error.ts';
import { fieldRequired, invalidValue, loneSurrogate, textTooLong, unknownField } from '../errors.ts';
import { nearestName } from '../../lib/nearest-name.ts';
import type { Operation } from '../operation.ts';

/** An Ajv error in verbose mode, as far as it is used here. */
export interface ValidationFault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
  readonly data?: unknown;
  readonly parentSchema?: object;
}

/** Ajv's form of a validator. */
export interface Validate {
  (value: unknown): unknown;
  readonly errors?: readonly ValidationFault[] | null;
}

/** Keyword `maxBytes`: the length of a text in UTF-8; `wellFormed`: no lone surrogates. Both are documented as text. */
export const maxBytesKeyword = {
  keyword: 'maxBytes',
  type: 'string',
  schemaType: 'number',
  validate: (limit: number, text: string) => text.length * 3 <= limit || Buffer.byteLength(text) <= limit,
  errors: false,
} as const;

export const wellFormedKeyword = {
  keyword: 'wellFormed',
  type: 'string',
  schemaType: 'boolean',
  validate: (wanted: boolean, text: string) => !wanted || text.isWellFormed(),
  errors: false,
} as const;

/**
 * Picks the error to answer with. A value that matches none of several forms has an error for each of them: the
 * relevant one is that of the form it was meant to have.
 */
export function mostRelevantError(errors: Validate['errors']): ValidationFault {
  const faults = errors ?? [];
  const [first, whole] = [faults[0], faults.at(-1)];
  if (first === undefined || whole === undefined) throw new Error('a validator refused a value without saying why');
  if (whole.keyword !== 'anyOf') return first;
  const isOfOtherForm = ({ keyword, instancePath }: ValidationFault) =>
    keyword === 'type' && instancePath === whole.instancePath;
  const telling = faults.find((fault) => !isOfOtherForm(fault)) ?? whole;
  if (telling === whole) {
    const types = faults.filter(isOfOtherForm).map(({ params }) => String(params['type']));
    return { ...whole, keyword: 'type', params: { type: types.join(' or ') } };
  }
  if (telling.keyword !== 'const') return telling;
  const choices = faults.filter(
    ({ keyword, instancePath }) => keyword === 'const' && instancePath === telling.instancePath,
  );
  return {
    ...telling,
    keyword: 'enum',
    params: { allowedValues: choices.map(({ params }) => params['allowedValue']) },
  };
}

export function explainValidation(fault: ValidationFault, operation: Operation): UserError {
  const { fieldErrors = {} } = operation;
  const [, field = ''] = fault.instancePath.split('/');
  const missing = fault.keyword === 'required' ? String(fault.params['missingProperty']) : undefined;
  const other = missing === undefined ? undefined : unknownFieldOf(fault);
  // A missing field stands there under another name.
  if (other !== undefined) return generalFault({ ...fault, ...other }, undefined, field === '' ? operation : undefined);
  const better =
    missing !== undefined && field === ''
      ? fieldErrors[missing]?.(undefined, true)
      : fault.keyword !== 'additionalProperties' && field !== ''
        ? fieldErrors[field]?.(isComposite(fault.data) ? '…' : fault.data, false)
        : undefined;
  return better ?? generalFault(fault, missing, field === '' ? operation : undefined);
}

/** The first field of an object that its schema does not know, as a fault of its own. */
function unknownFieldOf({
  data,
  parentSchema,
}: ValidationFault): Pick<ValidationFault, 'keyword' | 'params'> | undefined {
  const isClosed = parentSchema !== undefined && 'additionalProperties' in parentSchema;
  const known = new Set(fieldNames(parentSchema));
  const unknown = isClosed ? Object.keys(data ?? {}).find((name) => !known.has(name)) : undefined;
  return unknown === undefined
    ? undefined
    : { keyword: 'additionalProperties', params: { additionalProperty: unknown } };
}

/** `operation` is given for a field at the top of its body. */
function generalFault(
  fault: ValidationFault,
  missing: string | undefined,
  operation: Operation | undefined,
): UserError {
  const path = fault.instancePath.slice(1).replaceAll('/', '.');
  const name = (child: unknown) => quote(path === '' ? String(child) : `${path}.${String(child)}`);
  if (missing !== undefined) return new UserError(fieldRequired, { field: name(missing) });
  switch (fault.keyword) {
    case 'additionalProperties':
      return new UserError(unknownField, {
        field: name(fault.params['additionalProperty']),
        remedy: fieldRemedy(String(fault.params['additionalProperty']), fieldNames(fault.parentSchema), operation),
      });
    case 'wellFormed':
      return new UserError(loneSurrogate, { field: quote(path) });
    case 'maxBytes':
      return new UserError(textTooLong, {
        field: path,
        bytes: Buffer.byteLength(String(fault.data)),
        limit: limitOf(fault.parentSchema),
      });
    case 'discriminator': {
      const { tag, tagValue, allowedValues } = fault.params;
      const reason = Array.isArray(allowedValues)
        ? notOneOf(tagValue, allowedValues)
        : `is ${describeValue(tagValue)}, which is none of those that /openapi.json lists`;
      return new UserError(invalidValue, { field: name(tag), reason });
    }
    default:
      return new UserError(invalidValue, { field: path === '' ? 'the body' : quote(path), reason: reasonOf(fault) });
  }
}

function reasonOf({ keyword, params, message, data, parentSchema }: ValidationFault): string {
  if (keyword === 'type') {
    // Messages say "list", as people do.
    const wanted = String(params['type']).replace('array', 'list');
    const asText = wanted === 'string' && isComposite(data) ? ' (send JSON as text: a string that holds it)' : '';
    const form = wanted === 'object' ? exampleForm(parentSchema) : undefined;
    const such = form === undefined ? '' : `, such as ${form}`;
    return `is ${describeValue(data)}, where a value of type ${wanted} belongs${asText}${such}`;
  }
  const range = rangeOf(keyword, parentSchema);
  if (range !== undefined) return `is ${describeValue(data)}, where a number ${range} belongs`;
  if (keyword === 'minLength') return `is too short: at least ${String(params['limit'])} characters belong there`;
  if (keyword === 'enum' && Array.isArray(params['allowedValues'])) {
    return notOneOf(data, params['allowedValues']);
  }
  return message ?? 'does not fit';
}

/** The numbers that a field takes, where one is out of bounds. */
function rangeOf(keyword: string, schema: object | undefined): string | undefined {
  if (keyword !== 'minimum' && keyword !== 'maximum') return undefined;
  const { minimum, maximum }: { readonly minimum?: number; readonly maximum?: number } = schema ?? {};
  if (minimum === undefined) return `up to ${maximum}`;
  return maximum === undefined ? `from ${minimum} on` : `from ${minimum} to ${maximum}`;
}

interface SchemaWithExamples {
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, SchemaWithExamples>>;
}

/** An object as the schema takes it; undefined where it has no example. */
function exampleForm(schema: SchemaWithExamples = {}): string | undefined {
  const [own] = schema.examples ?? [];
  const fields = Object.entries(schema.properties ?? {}).flatMap(([name, { examples = [] }]) =>
    examples[0] === undefined ? [] : [[name, examples[0]] as const],
  );
  const [field] = fields;
  const shown = own ?? (field && Object.fromEntries([field]));
  return shown === undefined ? undefined : JSON.stringify(shown);
}

function notOneOf(value: unknown, allowed: readonly unknown[]): string {
  const meant = typeof value === 'string' ? meantName(value, allowed.map(String)) : undefined;
  const asked = meant === undefined ? '' : ` (did you mean ${quote(meant)}?)`;
  return `is ${describeValue(value)}${asked}, where one of these belongs: ${allowed.join(', ')}`;
}

/** Lists and objects are not quoted: they may be nested deeper than can be written out. */
export function describeValue(value: unknown): string {
  if (!isComposite(value)) return quote(value);
  return Array.isArray(value) ? 'a list' : 'an object';
}

function isComposite(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function fieldNames(schema: object | undefined): readonly string[] {
  const properties = schema !== undefined && 'properties' in schema ? schema.properties : undefined;
  return Object.keys(properties ?? {});
}

/** Longer names are not compared: a caller chooses them. */
const comparedLength = 40;

function fieldRemedy(field: string, known: readonly string[], operation: Operation | undefined): string {
  const list = `The known ones are: ${known.length === 0 ? 'none' : known.join(', ')}.`;
  const { misplacedFields = {}, response } = operation ?? {};
  const remedy = Object.hasOwn(misplacedFields, field) ? misplacedFields[field] : whyNeverSet(response, field);
  if (remedy !== undefined) return `${remedy} ${list}`;
  const meant = meantName(field, known);
  return meant === undefined ? list : `Did you mean ${quote(meant)}? ${list}`;
}

/** The known name that is nearest, or the only one that has the given one as a word. */
function meantName(given: string, known: readonly string[]): string | undefined {
  if (given.length > comparedLength) return undefined;
  const longer = given.length < 3 ? [] : known.filter((name) => name.split('_').includes(given));
  return nearestName(given, known) ?? (longer.length === 1 ? longer[0] : undefined);
}

/** The description of a field that answers show and that never has a value; undefined for any other. */
export function whyNeverSet(view: TSchema | undefined, field: string): string | undefined {
  // A TypeBox object schema holds its fields here.
  const properties = view !== undefined && 'properties' in view ? (view.properties as Record<string, TSchema>) : {};
  const property = Object.hasOwn(properties, field) ? properties[field] : undefined;
  if (property === undefined || !('type' in property) || property.type !== 'null') return undefined;
  return 'description' in property ? String(property.description) : undefined;
}

function limitOf(schema: object | undefined): number {
  return schema !== undefined && 'maxBytes' in schema ? Number(schema.maxBytes) : 0;
}
