import { quote, UserError } from '../errors/user-error.ts';
import { fieldRequired, invalidValue, loneSurrogate, textTooLong, unknownField } from './errors.ts';
import type { Operation } from './operation.ts';

/** An Ajv error in verbose mode, as far as it is used here. */
export interface ValidationFault {
  readonly keyword: string;
  readonly instancePath: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly message?: string;
  readonly data?: unknown;
  readonly parentSchema?: object;
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
export function mostRelevantError(faults: readonly ValidationFault[]): ValidationFault | undefined {
  const whole = faults.at(-1);
  if (whole?.keyword !== 'anyOf') return faults[0];
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

export function explainValidation(fault: ValidationFault, { fieldErrors = {} }: Operation): UserError {
  const [, field = ''] = fault.instancePath.split('/');
  const missing = fault.keyword === 'required' ? String(fault.params['missingProperty']) : undefined;
  const better =
    missing !== undefined && field === ''
      ? fieldErrors[missing]?.(undefined, true)
      : fault.keyword !== 'additionalProperties' && field !== ''
        ? fieldErrors[field]?.(isComposite(fault.data) ? '…' : fault.data, false)
        : undefined;
  return better ?? generalFault(fault, missing);
}

function generalFault(fault: ValidationFault, missing: string | undefined): UserError {
  const path = fault.instancePath.slice(1).replaceAll('/', '.');
  const name = (child: unknown) => quote(path === '' ? String(child) : `${path}.${String(child)}`);
  if (missing !== undefined) return new UserError(fieldRequired, { field: name(missing) });
  switch (fault.keyword) {
    case 'additionalProperties':
      return new UserError(unknownField, {
        field: name(fault.params['additionalProperty']),
        known: knownFields(fault.parentSchema),
      });
    case 'wellFormed':
      return new UserError(loneSurrogate, { field: quote(path) });
    case 'maxBytes':
      return new UserError(textTooLong, {
        field: path,
        bytes: Buffer.byteLength(String(fault.data)),
        limit: limitOf(fault.parentSchema),
      });
    default:
      return new UserError(invalidValue, { field: path === '' ? 'the body' : quote(path), reason: reasonOf(fault) });
  }
}

function reasonOf({ keyword, params, message, data }: ValidationFault): string {
  if (keyword === 'type') {
    // Messages say "list", as people do.
    return `is ${describeValue(data)}, where a value of type ${String(params['type']).replace('array', 'list')} belongs`;
  }
  if (keyword === 'enum' && Array.isArray(params['allowedValues'])) {
    return `is ${describeValue(data)}, where one of these belongs: ${params['allowedValues'].join(', ')}`;
  }
  return message ?? 'does not fit';
}

/** Lists and objects are not quoted: they may be nested deeper than can be written out. */
export function describeValue(value: unknown): string {
  if (!isComposite(value)) return quote(value);
  return Array.isArray(value) ? 'a list' : 'an object';
}

function isComposite(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function knownFields(schema: object | undefined): string {
  const properties = schema !== undefined && 'properties' in schema ? schema.properties : undefined;
  const names = Object.keys(properties ?? {});
  return names.length === 0 ? 'none' : names.join(', ');
}

function limitOf(schema: object | undefined): number {
  return schema !== undefined && 'maxBytes' in schema ? Number(schema.maxBytes) : 0;
}
