import { anyKeyPattern } from '../../lib/any-key.ts';

type Json = Readonly<Record<string, unknown>>;

/** Translates a schema to OpenAPI; a named one is written out only where it is defined, and referred to elsewhere. */
export function toOpenApi(schema: unknown, definition: boolean): unknown {
  if (Array.isArray(schema)) return schema.map((each) => toOpenApi(each, false));
  if (typeof schema !== 'object' || schema === null) return schema;
  if (!definition && '$id' in schema) return { $ref: `#/components/schemas/${String(schema.$id)}` };
  if ('$ref' in schema) return { $ref: `#/components/schemas/${String(schema.$ref)}` };
  return Object.fromEntries(Object.entries(schema).flatMap(([name, value]) => translate(name, value)));
}

function translate(name: string, value: unknown): [string, unknown][] {
  // Our own keywords: a reader of the document sees them as extensions.
  if (name === 'maxBytes') return [['x-max-bytes', value]];
  if (name === '$id' || name === 'wellFormed') return [];
  const choices = name === 'anyOf' ? choicesOf(value) : undefined;
  if (choices !== undefined) {
    return [
      ['type', 'string'],
      ['enum', choices],
    ];
  }
  const entries = name === 'patternProperties' ? valuesOfMap(value) : undefined;
  if (entries !== undefined) return [['additionalProperties', toOpenApi(entries, false)]];
  return [[name, toOpenApi(value, false)]];
}

/** A choice of texts is one type with a list of values: generators of clients make no sense of a union of constants. */
function choicesOf(forms: unknown): readonly unknown[] | undefined {
  if (!Array.isArray(forms) || !forms.every(isConstantText)) return undefined;
  return forms.map((form) => form['const']);
}

function isConstantText(form: unknown): form is Json {
  return typeof form === 'object' && form !== null && 'const' in form && typeof form.const === 'string';
}

/** A map whose keys may be any text; generators of clients do not read patterns. */
function valuesOfMap(patterns: unknown): unknown {
  const entries = typeof patterns === 'object' && patterns !== null ? Object.entries(patterns) : [];
  return entries.length === 1 && entries[0]?.[0] === anyKeyPattern ? entries[0][1] : undefined;
}
