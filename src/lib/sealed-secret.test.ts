import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createSealer } from './sealed-secret.ts';

const key = 'k'.repeat(32);
const sealer = createSealer(key);
const secret = '-----BEGIN PRIVATE KEY-----\nschlüssel\n-----END PRIVATE KEY-----\n';

test('a sealed secret opens to the same text, also in another process with the same key', () => {
  const sealed = sealer.seal(secret, 'cert_1');
  assert.equal(sealer.open(sealed, 'cert_1'), secret);
  assert.equal(createSealer(key).open(sealed, 'cert_1'), secret);
  assert.equal(sealer.open(sealer.seal('', 'cert_1'), 'cert_1'), '');
});

test('a sealed secret shows nothing of the text, and no two are alike', () => {
  const first = sealer.seal(secret, 'cert_1');
  assert.match(first, /^gcm1:[A-Za-z0-9+/]+={0,2}$/);
  assert.ok(!Buffer.from(first.slice(5), 'base64').includes('PRIVATE KEY'));
  assert.notEqual(sealer.seal(secret, 'cert_1'), first);
});

test('a secret moved to another row does not open', () => {
  const sealed = sealer.seal(secret, 'cert_1');
  assert.throws(() => sealer.open(sealed, 'cert_2'), /cert_2 does not open/);
});

test('no byte of a sealed secret can be changed, and none can be missing', () => {
  const bytes = Buffer.from(sealer.seal('secret', 'cert_1').slice(5), 'base64');
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed.writeUInt8(bytes.readUInt8(at) ^ 1, at);
    assert.throws(() => sealer.open(`gcm1:${changed.toString('base64')}`, 'cert_1'), { name: 'SealError' });
    const cut = bytes.subarray(0, at).toString('base64');
    assert.throws(() => sealer.open(`gcm1:${cut}`, 'cert_1'), { name: 'SealError' });
  }
});

test('with a wrong key or none, opening says which setting to look at', () => {
  const sealed = sealer.seal(secret, 'cert_1');
  assert.throws(() => createSealer('x'.repeat(32)).open(sealed, 'cert_1'), /Set secret_key to the former key/);
  assert.throws(() => createSealer(undefined).open(sealed, 'cert_1'), /secret_key is not set/);
});

test('without a key secrets are kept readable, and open after a key is set', () => {
  const open = createSealer(undefined);
  const kept = open.seal(secret, 'cert_1');
  assert.equal(kept, `plain:${secret}`);
  assert.equal(open.open(kept, 'cert_1'), secret);
  assert.equal(sealer.open(kept, 'cert_1'), secret);
});

test('a short key is refused without being repeated', () => {
  assert.throws(
    () => createSealer('short-and-sweet'),
    (error: Error) => error.message.includes('15 characters') && !error.message.includes('sweet'),
  );
});

test('a form it does not know is refused', () => {
  assert.throws(() => sealer.open(secret, 'cert_1'), /unknown form/);
});
