import assert from 'node:assert/strict';
import { test } from 'node:test';

import { maskTokens } from './mask-tokens.ts';

const id = '2tQzYDLwIVU45s8sSMNpRfQp1Ng';
const secret = 'x1'.repeat(21) + 'Z';

test('whatever has the form of a token keeps its id and loses its secret', () => {
  assert.equal(maskTokens(`${id}_${secret}`), `${id}_[masked]`);
  assert.equal(maskTokens(`/a/${id}%5F${secret}/b`), `/a/${id}%5F[masked]/b`);
  assert.equal(maskTokens(`ak_${id}_${secret}99, ${id}_${secret}`), `ak_${id}_[masked], ${id}_[masked]`);
});

test('ids and other texts stay as they are', () => {
  for (const text of ['', `ak_${id}`, `op_${id}`, `${id}_${secret.slice(1)}`, `${id.slice(1)}_${secret}`]) {
    assert.equal(maskTokens(text), text);
  }
});
