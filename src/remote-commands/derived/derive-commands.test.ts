import assert from 'node:assert/strict';
import { test } from 'node:test';

import { deriveCommands } from './derive-commands.ts';
import { readDocument } from './document.ts';
import type { OpenApiDocument } from './document.ts';

const document = readDocument();
const names = (from: OpenApiDocument) => deriveCommands(from).map(({ words }) => words.join(' '));

function find(from: OpenApiDocument, name: string) {
  const found = deriveCommands(from).find(({ words }) => words.join(' ') === name);
  assert.ok(found !== undefined, `no command ${name}`);
  return found;
}

test('every operation has a command of its own, except for streams', () => {
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const all = names(document);
  assert.equal(all.length, operations.length - 1);
  assert.equal(new Set(all).size, all.length);
  // Two commands of one name would be told apart by the id of the operation, as one word.
  assert.deepEqual(
    all.filter((name) => !name.includes(' ')),
    ['ip-check', 'traffic-policy-check'],
  );
});

test('commands are named by path and method', () => {
  const all = new Set(names(document));
  for (const name of [
    'ip-policies list',
    'ip-policies rules set',
    'ip-policies rules list',
    'api-keys rotate',
    'users list',
    'users update',
    'invitations accept',
    'edges https routes create',
    'edges https routes ip-restriction set',
    'edges tcp backend get',
    'backends static update',
    'reserved-domains certificate delete',
    'tunnel-sessions stop',
    'configuration get',
    'configuration apply',
    'gateways list',
    'local-ca get',
  ])
    assert.ok(all.has(name), name);
});

test('fields become flags: lists one by one, objects by dots, maps by pairs', () => {
  const flags = new Map(find(document, 'edges https routes create').fields.map((flag) => [flag.name, flag]));
  assert.deepEqual(flags.get('match-type')?.choices, ['path_prefix', 'exact_path']);
  assert.equal(flags.get('ip-restriction.ip-policy-id')?.repeats, true);
  assert.deepEqual(flags.get('ip-restriction.ip-policy-id')?.path, ['ip_restriction', 'ip_policy_ids']);
  assert.equal(flags.get('request-headers.add')?.kind, 'map');
  assert.equal(flags.get('backend')?.isHidden, true);
  assert.equal(
    find(document, 'edges https create').fields.some(({ name }) => name === 'hostport'),
    true,
  );
  const queries = new Set(find(document, 'changes list').query.map(({ name }) => name));
  for (const name of ['before-id', 'kind', 'resource-id', 'since']) assert.ok(queries.has(name), name);
  assert.ok(!queries.has('limit'), 'it is that of the whole list');
});

test('an operation that is added to the document is a command without new code', () => {
  const added: OpenApiDocument = {
    ...document,
    paths: {
      ...document.paths,
      '/garden_gates/{id}/hinges': {
        post: {
          operationId: 'HingesCreate',
          summary: 'Create hinge',
          parameters: [
            { name: 'id', in: 'path', schema: { type: 'string' } },
            { $ref: '#/components/parameters/IdempotencyKey', name: '', in: '', schema: {} },
          ],
          requestBody: {
            content: {
              'application/json': {
                schema: {
                  type: 'object',
                  required: ['size'],
                  properties: {
                    size: { type: 'integer', examples: [3] },
                    colours: { type: 'array', items: { type: 'string' } },
                    url: { type: 'string' },
                  },
                },
              },
            },
          },
          responses: { 201: {} },
        },
      },
    },
  };
  const command = find(added, 'garden-gates hinges create');
  assert.equal(command.example, 'gatehouse garden-gates hinges create ID --size 3');
  assert.equal(command.facts.idempotencyKey, true);
  assert.deepEqual(
    command.fields.map(({ name, kind }) => [name, kind]),
    [
      ['size', 'integer'],
      ['colour', 'text'],
      // `--url` names the server.
      ['field.url', 'text'],
    ],
  );
});

test('of the fields of the API two have the name of a flag that their command has: the body of a fixed answer, and the URL of an endpoint', () => {
  const hidden = deriveCommands(document).flatMap(({ fields, query }) => [...fields, ...query]);
  const renamed = hidden.filter(({ name }) => name.startsWith('field.'));
  assert.deepEqual(new Set(renamed.map(({ name }) => name)), new Set(['field.body', 'field.url']));
});
