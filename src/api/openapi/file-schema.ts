type Json = Readonly<Record<string, unknown>>;

/**
 * The JSON Schema of configuration files, for editors: sections by kind, in each of them entries by name. It is made from
 * the OpenAPI document, whose entries have their kind and name as fields.
 */
export function fileSchema(openApi: Json): Json {
  // The document is our own.
  const { schemas } = openApi['components'] as { readonly schemas: Readonly<Record<string, Entry>> };
  const entries = Object.values(schemas).flatMap((schema) => sectionOf(schema) ?? []);
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Gatehouse configuration',
    description: 'Files for "gatehouse plan" and "gatehouse apply".',
    type: 'object',
    additionalProperties: false,
    properties: { $schema: { type: 'string' }, ...Object.fromEntries(entries) },
  };
}

interface Entry {
  readonly properties?: Readonly<Record<string, Json>>;
  readonly required?: readonly string[];
}

/** The section of a schema that is that of an entry. */
function sectionOf({ properties = {}, required = [] }: Entry): [[string, Json]] | undefined {
  const { kind, name, ...fields } = properties;
  if (typeof kind?.['const'] !== 'string' || name === undefined) return undefined;
  const entry = {
    type: ['object', 'null'],
    properties: withVariables(fields),
    required: required.filter((field) => field !== 'kind' && field !== 'name'),
    additionalProperties: false,
  };
  const section = {
    type: ['object', 'null'],
    propertyNames: { pattern: name['pattern'] },
    additionalProperties: entry,
  };
  return [[kind['const'], section]];
}

/** Any value that is no text may be a variable of the environment in its place. */
function withVariables(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withVariables);
  if (typeof schema !== 'object' || schema === null) return schema;
  const translated = Object.fromEntries(
    Object.entries(schema).map(([key, value]: [string, unknown]) => [
      key,
      key === 'examples' || key === 'required' ? value : withVariables(value),
    ]),
  );
  const isPlain = translated['type'] === 'integer' || translated['type'] === 'boolean' || 'enum' in translated;
  if (!isPlain) return translated;
  const { description, ...form } = translated;
  return { description, anyOf: [form, { type: 'string', pattern: String.raw`^\$\{.*\}$` }] };
}
