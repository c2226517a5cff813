import type { Collection } from './collections.ts';
import type { Document } from './journal.ts';

type Json = Readonly<Record<string, unknown>>;

/** The part of an OpenAPI document that says what a creation takes, and what its answer shows. */
export interface Forms {
  readonly body: Json;
  readonly view: Json;
}

export interface Copied {
  readonly body: Json;
  /** Reasons why no copy may be made. */
  readonly faults: readonly string[];
  /** Fields that the copy is made without. */
  readonly dropped: readonly string[];
}

/** Finds the new id of a resource that another one names; undefined if it was not taken. */
export type NewIdOf = (old: string) => string | undefined;

/** Reads the forms of an operation that creates from the OpenAPI document of the server that gets the copies. */
export function formsOf(openApi: Json, operationId: string): Forms {
  for (const methods of Object.values(object(openApi['paths']))) {
    const post = object(object(methods)['post']);
    if (post['operationId'] !== operationId) continue;
    const created = object(object(post['responses'])['201']);
    return {
      body: propertiesOf(openApi, schemaIn(object(post['requestBody']))),
      view: propertiesOf(openApi, schemaIn(created)),
    };
  }
  return { body: {}, view: {} };
}

/** Turns a resource as one server shows it into what another takes to create it. */
export function toBody(
  openApi: Json,
  { decidesAccess, leaves = [] }: Collection,
  forms: Forms,
  document: Document,
  newIdOf: NewIdOf,
): Copied {
  const dropped: string[] = [];
  const faults: string[] = [];
  const copied = copyFields(openApi, forms.body, document, newIdOf);
  const body = Object.fromEntries(Object.entries(copied.body).filter(([field]) => !leaves.includes(field)));
  for (const field of copied.lost)
    (decidesAccess ? faults : dropped).push(`${field} names something that was not taken`);
  for (const [field, value] of Object.entries(document)) {
    if (isEmpty(value) || field in copied.body || copied.used.has(field) || leaves.includes(field)) continue;
    const shown = forms.view[field];
    if (shown !== undefined && object(shown)['type'] !== 'null') continue;
    const isHarmless = !decidesAccess || (shown === undefined && typeof value !== 'object');
    (isHarmless ? dropped : faults).push(`${field} is not offered here`);
  }
  return { body, faults, dropped };
}

interface Fields {
  readonly body: Json;
  /** Fields of the source that the body was made of, under other names. */
  readonly used: ReadonlySet<string>;
  /** Fields that name something which is not there. */
  readonly lost: readonly string[];
}

/** Modules and resources show others as `{id, uri}`, and take their ids: `backend` and `backend_id`. */
function copyFields(openApi: Json, properties: Json, document: Json, newIdOf: NewIdOf): Fields {
  const body: Record<string, unknown> = {};
  const used = new Set<string>();
  const lost: string[] = [];
  for (const [field, schema] of Object.entries(properties)) {
    const shownAs = shownName(field);
    const value = document[field] ?? document[shownAs];
    if (value === undefined || value === null) continue;
    used.add(shownAs);
    if (shownAs === field) {
      const named = field === 'backends' ? renameMembers(value, newIdOf) : value;
      if (named === undefined) {
        lost.push(field);
        continue;
      }
      if (named !== value) {
        body[field] = named;
        continue;
      }
      const inner = propertiesOf(openApi, object(schema));
      if (!isObject(value) || Object.keys(inner).length === 0) body[field] = value;
      else {
        const copied = copyFields(openApi, inner, value, newIdOf);
        body[field] = copied.body;
        lost.push(...copied.lost.map((each) => `${field}.${each}`));
        lost.push(...leftIn(value, copied).map((each) => `${field}.${each}`));
      }
      continue;
    }
    const olds = (Array.isArray(value) ? value : [value]).map((each: unknown) => idIn(each));
    const ids = olds.map((old) => newIdOf(old));
    if (ids.includes(undefined)) lost.push(field);
    else body[field] = Array.isArray(value) ? ids : ids[0];
  }
  return { body, used, lost };
}

/** The members of a backend that stands for others, a list of ids or weights by id. Undefined if one was not taken. */
function renameMembers(value: unknown, newIdOf: NewIdOf): unknown {
  const olds = Array.isArray(value) ? value.map(String) : isObject(value) ? Object.keys(value) : [];
  const ids = olds.map((old) => newIdOf(old));
  if (ids.includes(undefined)) return undefined;
  if (Array.isArray(value)) return ids;
  return isObject(value) ? Object.fromEntries(olds.map((old, at) => [ids[at], value[old]])) : value;
}

/** Settings of a module that the copy would not have. */
function leftIn(value: Json, { body, used }: Fields): readonly string[] {
  return Object.keys(value).filter((field) => !isEmpty(value[field]) && !(field in body) && !used.has(field));
}

function shownName(field: string): string {
  if (field.endsWith('_ids')) return `${field.slice(0, -4)}s`.replace(/ys$/, 'ies');
  return field.endsWith('_id') ? field.slice(0, -3) : field;
}

function idIn(value: unknown): string {
  return String(isObject(value) ? value['id'] : value);
}

/** True for what a resource shows where something is not set, and for modules that are switched off. */
function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === '' || value === false) return true;
  if (Array.isArray(value)) return value.length === 0;
  return isObject(value) && (Object.keys(value).length === 0 || value['enabled'] === false);
}

function propertiesOf(openApi: Json, schema: Json): Json {
  const reference = schema['$ref'];
  if (typeof reference !== 'string') return object(schema['properties']);
  const schemas = object(object(openApi['components'])['schemas']);
  return propertiesOf(openApi, object(schemas[reference.split('/').at(-1) ?? '']));
}

function schemaIn(part: Json): Json {
  return object(object(object(part['content'])['application/json'])['schema']);
}

function object(value: unknown): Json {
  return isObject(value) ? value : {};
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
