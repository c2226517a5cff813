import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Type } from 'typebox';
import type { TSchema } from 'typebox';

import { internalError } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { fieldRequired } from '../errors.ts';
import { toOpenApi } from './openapi-schema.ts';
import { describeApi } from './openapi.ts';
import { operation } from '../operation.ts';
import type { Operation } from '../operation.ts';
import { anyKey } from '../../lib/any-key.ts';

const base = {
  operationId: 'Try',
  summary: 'Try it',
  tag: 'Trial',
  rights: 'everyone',
  status: 200,
  errors: [],
  handle: async () => ({}),
} as const;

function described(tried: Operation, schemas: readonly TSchema[] = []): Record<string, unknown> {
  const { paths } = structuredClone(describeApi([tried], schemas)) as {
    paths: Record<string, Record<string, unknown>>;
  };
  return paths[tried.path]?.[tried.method.toLowerCase()] as Record<string, unknown>;
}

test('a choice of texts is an enumeration, and a map names the type of its values', () => {
  const choice = Type.Union([Type.Literal('allow'), Type.Literal('deny')], { description: 'Which.', default: 'allow' });
  assert.deepEqual(toOpenApi(choice, false), {
    type: 'string',
    enum: ['allow', 'deny'],
    description: 'Which.',
    default: 'allow',
  });
  assert.deepEqual(toOpenApi(Type.Record(anyKey, Type.String()), false), {
    type: 'object',
    additionalProperties: { type: 'string' },
  });
  assert.deepEqual(toOpenApi(Type.Union([Type.String(), Type.Object({ a: Type.Literal('x') })]), false), {
    anyOf: [{ type: 'string' }, { type: 'object', required: ['a'], properties: { a: { type: 'string', const: 'x' } } }],
  });
});

test('a body is required where a field of it is, and where it is a list', () => {
  const isRequired = (body: TSchema, bodyForm: 'object' | 'list' = 'object') =>
    described(operation({ ...base, method: 'POST', path: '/trials', body, bodyForm }))['requestBody'];
  const optional = Type.Object({ a: Type.Optional(Type.String()) });
  for (const [body, form, required] of [
    [Type.Object({ a: Type.String() }), 'object', true],
    [optional, 'object', false],
    [Type.Array(Type.String()), 'list', true],
  ] as const) {
    assert.equal((isRequired(body, form) as { required: boolean }).required, required);
  }
});

test('the error of a missing field is told of where a field is required, at any depth, and has no error of its own', () => {
  const inner = Type.Object({ b: Type.String() }, { $id: 'Inner' });
  const own = { a: () => new UserError(internalError) };
  for (const [body, fieldErrors, isTold] of [
    [Type.Object({ a: Type.Optional(Type.String()) }), {}, false],
    [Type.Object({ a: Type.String() }), {}, true],
    [Type.Object({ a: Type.String() }), own, false],
    [Type.Object({ a: Type.String() }), { a: () => undefined }, true],
    [Type.Object({ c: Type.Optional(Type.Ref('Inner')) }), {}, true],
    [Type.Object({ a: inner }), own, true],
    [Type.Array(Type.Union([Type.String(), inner])), {}, true],
  ] as const) {
    const { responses } = described(operation({ ...base, method: 'POST', path: '/trials', body, fieldErrors }), [
      inner,
    ]);
    assert.equal(JSON.stringify(responses).includes(fieldRequired.message), isTold, JSON.stringify(body));
  }
});

test('the headers that a call takes are told of', () => {
  const names = (accepts: NonNullable<Operation['accepts']>) =>
    (
      described(operation({ ...base, method: 'DELETE', path: '/trials/{id}', accepts, errors: [] }))[
        'parameters'
      ] as object[]
    ).map((each) => ('$ref' in each ? String(each.$ref).split('/').at(-1) : 'name' in each && each.name));
  assert.deepEqual(names([]), ['id', 'ServiceVersion']);
  assert.deepEqual(names(['IfMatch', 'IdempotencyKey', 'AllowLockout']), [
    'id',
    'ServiceVersion',
    'IfMatch',
    'IdempotencyKey',
    'AllowLockout',
  ]);
});
