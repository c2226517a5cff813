import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020 } from 'ajv/dist/2020.js';

import { errorCatalog } from '../../tools/error-catalog.ts';
import { errorPage } from '../../tools/error-page.ts';
import { generatedFiles } from '../../tools/generated-files.ts';
import { retiredNumbers } from '../../tools/retired-numbers.ts';
import { onAnyDatabase } from '../support/each-database.ts';
import { Gatehouse } from '../support/gatehouse.ts';
import { forEach, openApi, operations, publicOperations, resolveSchema } from './support/operations.ts';
import type { Schema } from './support/operations.ts';
import { readRootFile, sourceFiles } from './support/source-files.ts';

const everyOperation = [...operations, ...publicOperations];

test('every generated file is what `npm run generate` writes', async () => {
  for (const [path, text] of await generatedFiles()) {
    assert.ok(readRootFile(path) === text, `${path}: run "npm run generate" and commit the result`);
  }
});

test('an error keeps its number, and the number of one that is gone is not given again', () => {
  const page = readRootFile('docs/errors.md');
  assert.throws(() => errorPage(`${page}| 20999 | 400 | Gone. |\n`), /no error has the number 20999: give it back/);
  const [retired] = retiredNumbers;
  assert.equal(errorPage(`${page}| ${retired} | 400 | Gone. |\n`), page);
  assert.ok(!errorCatalog.some(({ code }) => code === 0), 'npm run generate gives it a number');
});

onAnyDatabase('openapi.json', (newDatabase) => {
  test('is what the server serves to everyone', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { vendor: 'ngrok' });
    const response = await fetch(new URL('/openapi.json', gatehouse.url));
    assert.equal(response.headers.get('content-type'), 'application/json; charset=utf-8');
    assert.deepEqual(await response.json(), openApi);
  });
});

test('openapi.json is a valid OpenAPI 3.1 document', async () => {
  const { valid, errors } = await new Validator().validate(structuredClone({ ...openApi }));
  assert.ok(valid, JSON.stringify(errors, undefined, 2));
});

test('every operation has a name of its own, a summary, a tag, and a form for what it answers', async () => {
  assert.equal(new Set(everyOperation.map(({ id }) => id)).size, everyOperation.length);
  await forEach(everyOperation, async ({ id, successStatus, described }) => {
    assert.match(id, /^[A-Z][A-Za-z]+$/);
    assert.ok((described.summary ?? '').length > 5, 'the summary');
    assert.equal(described.tags?.length, 1, 'the tag');
    const success = described.responses[successStatus];
    assert.equal(success?.content === undefined, successStatus === 204, 'the form of the answer');
  });
});

test('every operation documents every error it can meet', async () => {
  await forEach(operations, async ({ params, bodySchema, described }) => {
    const expected = [400, 401, 403, 429, 500, 503];
    if (params.length > 0) expected.push(404);
    if (bodySchema !== undefined) expected.push(413, 415);
    assert.deepEqual(
      expected.filter((status) => described.responses[status] === undefined),
      [],
    );
    for (const [status, response] of Object.entries(described.responses)) {
      if (Number(status) < 400) continue;
      assert.deepEqual(response.content?.['application/json']?.schema, { $ref: '#/components/schemas/Error' });
      for (const line of (response.description ?? '').split('\n\n')) checkErrorLine(line, Number(status));
    }
  });
});

test('every field has a description, and every field of a request an example or a list of its values', async () => {
  const faults: string[] = [];
  const look = (path: string, schema: Schema, inRequest: boolean): void => {
    const { properties = {} } = resolveSchema(schema);
    for (const [name, property] of Object.entries(properties)) {
      const at = `${path}.${name}`;
      const isNamed = property.$ref !== undefined;
      if (!isNamed && !('description' in property)) faults.push(`${at} has no description`);
      if (inRequest && !isNamed && !isSelfEvident(property)) faults.push(`${at} has no example`);
      if (!isNamed) look(at, property, inRequest);
    }
  };
  const requests = new Set(
    operations.flatMap(({ bodySchema }) => (bodySchema?.$ref === undefined ? [] : [bodySchema.$ref])),
  );
  for (const [name, schema] of Object.entries(openApi.components.schemas)) {
    look(name, schema, requests.has(`#/components/schemas/${name}`) || name.endsWith('Replace'));
  }
  assert.deepEqual(faults, []);
});

test('every example fits the form it stands for', () => {
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(openApi, 'openapi');
  let seen = 0;
  const look = (pointer: string, value: unknown): void => {
    if (typeof value !== 'object' || value === null) return;
    if ('examples' in value && Array.isArray(value.examples)) {
      const fits = ajv.compile({ $ref: `openapi#${pointer}` });
      for (const example of value.examples) {
        seen += 1;
        assert.ok(fits(example), `${pointer}: ${JSON.stringify(example)}`);
      }
    }
    for (const [name, child] of Object.entries(value)) {
      look(`${pointer}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`, child);
    }
  };
  look('/components/schemas', openApi.components.schemas);
  assert.ok(seen > 20, `only ${seen} examples`);
});

test('every error that is defined is in the catalog under a number of its own, and is used', () => {
  const files = sourceFiles();
  const defined = files.flatMap(({ code }) => [...code.matchAll(/const (\w+) = defineError\(\s*(\d+)/g)]);
  assert.ok(defined.length > 100, `found only ${defined.length} definitions`);
  const numbers = defined.map(([, , number]) => Number(number)).toSorted((a, b) => a - b);
  assert.deepEqual(
    errorCatalog.map(({ code }) => code),
    numbers,
    'a definition is missing in the catalog, or two share a number: list it in its resource or module',
  );
  // Imports, definitions and lists of errors do not count: an error is used where its name stands alone.
  const uses = files
    .map(({ code }) =>
      code
        .replaceAll(/import [^;]*;/g, '')
        .replaceAll(/const \w+ = defineError/g, '')
        .replaceAll(/\[[\w,.\s]*\]/g, ''),
    )
    .join('\n');
  const unused = defined.filter(([, name = '']) => !new RegExp(`\\b${name}\\b`).test(uses)).map(([, name]) => name);
  assert.deepEqual(unused, [], 'these can never be answered: delete them');
});

function checkErrorLine(line: string, status: number): void {
  const [number = '', ...message] = line.split(': ');
  const entry = errorCatalog.find(({ code }) => String(code) === number);
  assert.ok(entry, `${number} is not in the catalog of errors`);
  assert.deepEqual([entry.status, entry.message], [status, message.join(': ')]);
}

/** True for a schema with an example, and for enums, booleans and objects, which need none. */
function isSelfEvident(schema: Schema): boolean {
  const { type, examples, anyOf, properties } = schema;
  const isChoice = anyOf?.every((each) => 'const' in each) === true || 'enum' in schema;
  return examples !== undefined || isChoice || type === 'boolean' || properties !== undefined;
}
