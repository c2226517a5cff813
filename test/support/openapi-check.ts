import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';

import { Ajv2020 } from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';

interface Document {
  readonly components: { readonly schemas: Readonly<Record<string, object>> };
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { readonly responses: Readonly<Record<string, Response>> }>>>
  >;
}
interface Response {
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema?: Schema }>>;
}
interface Schema {
  readonly $ref?: string;
}

const documentUrl = new URL('../../openapi.json', import.meta.url);
const document = JSON.parse(readFileSync(documentUrl, 'utf8')) as Document;
// Another test holds the document against the schema of such documents: to do so here would take half of the time in which
// a process of tests loads.
const ajv = new Ajv2020({
  strict: false,
  validateFormats: false,
  validateSchema: false,
  meta: false,
  // Most validators see few answers.
  code: { optimize: false },
});

const paths = Object.keys(document.paths)
  .map((path) => ({ path, pattern: new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`) }))
  // Paths with fewer parameters come first, as a literal segment wins over a parameter.
  .toSorted((a, b) => a.path.split('{').length - b.path.split('{').length);

const validators = new Map<string, ValidateFunction>();
/** Names of schemas that are known to the validator. */
const added = new Set<string>();

/** Fails unless the document has this status for the operation, with a body of this form. */
export function checkAnswer(method: string, path: string, { status, body }: { status: number; body: unknown }): void {
  const template = paths.find(({ pattern }) => pattern.test(path))?.path;
  const operation = template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()];
  // Unknown paths and methods are not documented; their responses have the common form of errors.
  if (template === undefined || operation === undefined) {
    assert.ok(status === 404 || status === 405 || status === 400, `${method} ${path} answered ${status}`);
    validate(schemaNamed('Error'), body, `${method} ${path}`);
    return;
  }
  const response = operation.responses[status];
  assert.ok(response, `the OpenAPI document has no ${status} for ${method} ${template}`);
  if (response.content !== undefined && 'text/event-stream' in response.content) return;
  if (response.content === undefined) {
    assert.equal(body, undefined, `${method} ${template} answered ${status} with a body`);
    return;
  }
  const schema = response.content['application/json']?.schema ?? {};
  validate(schema, body, `${method} ${template} ${status}`);
  if (status >= 400) checkErrorIsDocumented(response, body, `${method} ${template} ${status}`);
}

/** Fails unless the value has the form of this schema. */
export function checkData(schema: string, data: unknown): void {
  validate(schemaNamed(schema), data, schema);
}

/** Checks that the description of the response lists the error code. */
function checkErrorIsDocumented({ description = '' }: Response, body: unknown, what: string): void {
  // The body has just passed the schema of errors.
  const number = /\d+$/.exec((body as { readonly error_code: string }).error_code)?.[0];
  // No route accepts such an id, so the response is that for an unknown path.
  if (number === '20001') return;
  assert.ok(
    description.split('\n\n').some((line) => line.startsWith(`${number}: `)),
    `${what}: the OpenAPI document has no error ${number}`,
  );
}

function schemaNamed(name: string): Schema {
  return { $ref: `#/components/schemas/${name}` };
}

function validate(schema: Schema, body: unknown, what: string): void {
  // Most responses name a schema that many have: compiled once, it serves them all.
  const key = schema.$ref ?? JSON.stringify(schema);
  let check = validators.get(key);
  if (check === undefined) {
    check = ajv.compile(resolveNames(schema));
    validators.set(key, check);
  }
  assert.ok(
    check(body),
    `${what}: the body does not fit the OpenAPI document: ${ajv.errorsText(check.errors)}\n${JSON.stringify(body)}`,
  );
}

/** Adds the schemas that this one names, of hundreds in the document, and refers to them by their names. */
function resolveNames(schema: object): object {
  const text = JSON.stringify(closeObjects(schema)).replaceAll(
    /"#\/components\/schemas\/(\w+)"/g,
    (_, name: string) => {
      if (!added.has(name)) {
        added.add(name);
        ajv.addSchema(
          resolveNames(document.components.schemas[name] ?? assert.fail(`there is no schema ${name}`)),
          name,
        );
      }
      return `"${name}"`;
    },
  );
  return JSON.parse(text);
}

/** Responses may have no undocumented field, so that a stored field that leaks into one is found. */
function closeObjects(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closeObjects);
  if (typeof schema !== 'object' || schema === null) return schema;
  const closed = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closeObjects(value)]));
  const isOpen = 'properties' in schema && 'type' in schema && !('additionalProperties' in schema);
  return isOpen ? { ...closed, additionalProperties: false } : closed;
}
