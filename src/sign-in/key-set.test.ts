import assert from 'node:assert/strict';
import { test } from 'node:test';

import { exportJWK, generateKeyPair } from 'jose';

import { readKeySet } from './key-set.ts';

/** A number of so many bits, in base64url. */
function numberOf(bits: number, zeros = 0): string {
  const bytes = Buffer.alloc(Math.ceil(bits / 8), 0xff);
  bytes[0] = 0xff >> ((8 - (bits % 8)) % 8);
  return Buffer.concat([Buffer.alloc(zeros), bytes]).toString('base64url');
}

const rsa = (n: string, e = 'AQAB') => ({ kty: 'RSA', n, e });
const read = (...keys: readonly unknown[]) => readKeySet(JSON.stringify({ keys }));

test('RSA keys that would cost a check many times the usual are left out', () => {
  const usable = [
    rsa(numberOf(2048)),
    rsa(numberOf(4096)),
    rsa(numberOf(4096, 1)),
    rsa(numberOf(2048), numberOf(32)),
    rsa(numberOf(2048), numberOf(17, 4)),
  ];
  assert.deepEqual(read(...usable), { keys: usable, leftOut: 0 });
  for (const wrong of [
    rsa(numberOf(4097)),
    rsa(numberOf(3072), numberOf(33)),
    rsa(numberOf(3072), numberOf(3070)),
    rsa(numberOf(2048), ''),
    rsa(`${numberOf(2048)}=`),
    rsa(` ${numberOf(2048)}`),
    { kty: 'RSA', n: numberOf(2048) },
    { kty: 'RSA', e: 'AQAB' },
  ])
    assert.deepEqual(read(wrong, usable[0]), { keys: [usable[0]], leftOut: 1 }, JSON.stringify(wrong).slice(0, 80));
});

test('of a key the fields stay that a check uses, and what has another form is left out', async () => {
  const { publicKey } = await generateKeyPair('ES256');
  const key = { ...(await exportJWK(publicKey)), kid: 'a', alg: 'ES256', use: 'sig', key_ops: ['verify'] };
  assert.deepEqual(read({ ...key, x5c: ['certificate'], d: 'private', other: 1 }), { keys: [key], leftOut: 0 });
  const wrong = [
    null,
    'text',
    {},
    { ...key, kty: 1 },
    { ...key, kid: 1 },
    { ...key, kid: [[[]]] },
    { ...key, kid: 'k'.repeat(1025) },
    { ...key, key_ops: 'verify' },
    { ...key, key_ops: Array(17).fill('verify') },
    { ...key, key_ops: [1] },
  ];
  for (const each of wrong) assert.deepEqual(read(each), { keys: [], leftOut: 1 }, JSON.stringify(each));
});

test('an answer without a list, or with more keys than anybody needs, is refused', () => {
  for (const text of ['null', '[]', '{}', '{"keys":{}}', 'text']) assert.throws(() => readKeySet(text), text);
  const key = rsa(numberOf(2048));
  assert.equal(read(...Array(256).fill(key)).keys.length, 256);
  assert.throws(() => read(...Array(257).fill(key)), /257 keys/);
});
