import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import { isLong } from '../support/long-form.ts';
import { inAnyWorld } from './support/in-worlds.ts';
import { forEach, operations, resolveSchema } from './support/operations.ts';
import type { Schema } from './support/operations.ts';

/** The way from a body to a map in it: fields, `[]` for an entry of a list, `{}` for a value of another map. */
interface MapPlace {
  readonly way: readonly Step[];
  readonly values: Schema;
}

interface Step {
  readonly name: string;
  /** The object, list or map that the step starts from. */
  readonly within: Schema;
}

const withBody = operations.filter(({ bodySchema }) => bodySchema !== undefined);
const withMaps = withBody.filter(({ bodySchema }) => mapsIn(bodySchema ?? {}).length > 0);

/** Texts of any kind, those above all on which "." and "$" of a pattern do not hold. */
const anyKey = fc.oneof(
  fc.string({ unit: fc.constantFrom('x', '/', '\n', '\r', '\u{2028}', '\u{2029}'), minLength: 1, maxLength: 6 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: fc.constantFrom('/', 'a', '\0', '\u{d800}', '\u{dc00}', '\u{85}'), maxLength: 4 }),
  fc.constantFrom('__proto__', 'constructor', 'toString', ''),
);
const numRuns = isLong ? 2_000 : 30;

test('every object in a body has fields that are known by name, or is a map whose values all have the same form', () => {
  for (const { id, bodySchema } of withBody) {
    for (const [path, { type, properties, additionalProperties, oneOf }] of objectsIn(bodySchema ?? {}, '')) {
      if (type !== 'object' || oneOf !== undefined) continue;
      const isClosed = additionalProperties === false;
      const isMap = typeof additionalProperties === 'object' && properties === undefined;
      assert.ok(isClosed || isMap, `${id}: ${path === '' ? 'the body' : path} takes fields that nothing checks`);
    }
  }
});

inAnyWorld('maps in bodies', (world) => {
  test('hold every value to its form, whatever its key is, and no key is a fault of the server', async () => {
    assert.ok(withMaps.length >= 7, withMaps.map(({ id }) => id).join());
    const preparedFor = await world().own.prepareAll(withMaps);
    await forEach(withMaps, async (operation) => {
      const { path, body } = preparedFor(operation);
      for (const { way, values } of mapsIn(operation.bodySchema ?? {})) {
        const send = (key: string, value: unknown) =>
          world().own.call(operation, { path, body: putAt(body, way, Object.fromEntries([[key, value]])) });
        const property = fc.asyncProperty(anyKey, fc.constantFrom(...wrongFor(values)), async (key, wrong) => {
          const place = `${way.map(({ name }) => name).join('.')} of ${JSON.stringify(key)}`;
          const refused = await send(key, wrong);
          assert.equal(refused.status, 400, `${place}, which is ${JSON.stringify(wrong)}: ${refused.text}`);
          const { status, text } = await send(key, sampleOf(values));
          assert.ok(status < 500, `${place}: ${text}`);
        });
        await fc.assert(property, { numRuns, includeErrorInReport: true });
      }
    });
  });
});

function mapsIn(given: Schema, way: readonly Step[] = []): readonly MapPlace[] {
  const schema = resolveSchema(given);
  const { properties = {}, additionalProperties: values } = schema;
  const below = Object.entries(properties).flatMap(([name, each]) => mapsIn(each, [...way, { name, within: schema }]));
  const entries = formsOf(schema).flatMap((form) =>
    mapsIn(form, [...way, { name: '[]', within: resolveSchema(form) }]),
  );
  if (typeof values !== 'object') return [...below, ...entries];
  return [...below, ...entries, { way, values }, ...mapsIn(values, [...way, { name: '{}', within: schema }])];
}

function* objectsIn(given: Schema, path: string): Generator<readonly [string, Schema]> {
  const schema = resolveSchema(given);
  yield [path, schema];
  for (const [name, each] of Object.entries(schema.properties ?? {})) yield* objectsIn(each, `${path}.${name}`);
  for (const form of formsOf(schema)) yield* objectsIn(form, `${path}[]`);
  if (typeof schema.additionalProperties === 'object') yield* objectsIn(schema.additionalProperties, `${path}{}`);
}

/** The forms of a list's entries. */
function formsOf({ items, anyOf = [] }: Schema): readonly Schema[] {
  return [...anyOf, ...(items === undefined ? [] : (items.oneOf ?? [items]))];
}

/** Values that are not of this form. */
function wrongFor(given: Schema): readonly unknown[] {
  const { type } = resolveSchema(given);
  return [type === 'integer' ? 'text' : 5, [], { unknown_field: 1 }];
}

/** A body like `example` that has this map at the end of the way. */
function putAt(example: unknown, [step, ...rest]: readonly Step[], map: object): unknown {
  if (step === undefined) return map;
  const { name, within } = step;
  if (name === '[]') return [putAt(sampleOf(within), rest, map)];
  if (name === '{}') return { '/map': putAt({}, rest, map) };
  const fields = typeof example === 'object' ? example : {};
  const inner = within.properties?.[name];
  return { ...fields, [name]: putAt(inner === undefined ? {} : sampleOf(inner), rest, map) };
}

/** A value of this form, with the fields that it must have. */
function sampleOf(given: Schema): unknown {
  const schema = resolveSchema(given);
  const { properties = {}, required = [], examples, type } = schema;
  if (schema.const !== undefined) return schema.const;
  if (type !== 'object') return examples?.[0] ?? (type === 'array' ? [] : 'text');
  return Object.fromEntries(required.map((name) => [name, sampleOf(properties[name] ?? {})]));
}
