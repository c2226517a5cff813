import { resolveSchema } from './document.ts';
import type { OpenApiDocument, Schema } from './document.ts';

/** One flag of a command, for a field of the body or a parameter of the query. */
export interface Flag {
  /** Without its dashes: `hostport`, `tls.enabled`. */
  readonly name: string;
  /** Where its value stands in the body. */
  readonly path: readonly string[];
  readonly kind: 'text' | 'integer' | 'number' | 'boolean' | 'json' | 'map';
  /** Gathers a list, one value for each time it is given. */
  readonly repeats: boolean;
  readonly choices: readonly string[] | undefined;
  readonly description: string;
  readonly isRequired: boolean;
  /** The whole of an object whose fields have flags of their own. */
  readonly isHidden: boolean;
  /** A value as it is written on the command line. */
  readonly example: string | undefined;
}

/** Flags of a command that takes a body; a field of the same name gets `field.` before its own. */
const reserved = new Set(
  'url token profile output query body if-match allow-lockout idempotency-key yes help'.split(' '),
);

/** A flag for each field of a body; those of nested objects have dots in their names. */
export function deriveFlags(document: OpenApiDocument, schema: Schema, path: readonly string[] = []): readonly Flag[] {
  const { properties = {}, required = [] } = resolveSchema(document, schema);
  return Object.entries(properties).flatMap(([name, each]) => {
    const property = resolveSchema(document, each);
    const inner = property.type === 'object' ? deriveFlags(document, property, [...path, name]) : [];
    const isRequired = path.length === 0 && required.includes(name);
    const flag = flagOf(document, [...path, name], property);
    return [{ ...flag, isRequired, isHidden: inner.length > 0 }, ...inner];
  });
}

export function flagOf(document: OpenApiDocument, path: readonly string[], given: Schema): Flag {
  const schema = resolveSchema(document, given);
  const repeats = schema.type === 'array';
  const single = repeats ? resolveSchema(document, schema.items ?? {}) : schema;
  const name = path.map((part) => part.replaceAll('_', '-')).join('.');
  const shown = repeats ? singular(name) : name;
  const choices = single.enum?.map(String);
  // The query of a call has words in place of booleans.
  const isSwitch = choices?.join() === 'true,false';
  const kind = isSwitch ? 'boolean' : kindOf(single);
  return {
    name: reserved.has(shown) ? `field.${shown}` : shown,
    path,
    kind,
    repeats,
    choices: isSwitch ? undefined : choices,
    description: schema.description ?? '',
    isRequired: false,
    isHidden: false,
    example: exampleOf(schema, single, kind),
  };
}

/** Name under which commander keeps the values of a flag; a dot or another flag of the command cannot stand in its way. */
export function optionKey({ name }: Flag): string {
  return `flag ${name}`;
}

/** `hostports` is given one by one, as `--hostport`. */
function singular(name: string): string {
  return name.replace(/(?<=[a-z])(?<!se)s$/, '');
}

function kindOf({ type, properties, additionalProperties, anyOf }: Schema): Flag['kind'] {
  const plain = (typeof type === 'string' ? [type] : (type ?? [])).find((each) => each !== 'null');
  if (anyOf !== undefined || plain === undefined || plain === 'array') return 'json';
  if (plain === 'object') {
    const isMap = properties === undefined && typeof additionalProperties === 'object';
    return isMap && additionalProperties.type === 'string' ? 'map' : 'json';
  }
  return plain === 'boolean' || plain === 'integer' || plain === 'number' ? plain : 'text';
}

function exampleOf({ examples }: Schema, single: Schema, kind: Flag['kind']): string | undefined {
  const [given] = examples ?? [];
  const value: unknown = Array.isArray(given) ? given[0] : given;
  if (value === undefined) return kind === 'boolean' ? 'true' : single.enum?.map(String)[0];
  if (kind === 'map') {
    const [pair] = Object.entries(value ?? {});
    return pair?.map(String).join('=');
  }
  return typeof value === 'string' && kind !== 'json' ? value : JSON.stringify(value);
}
