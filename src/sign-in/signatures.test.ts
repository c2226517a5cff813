import assert from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { test } from 'node:test';

import { exportJWK, generateKeyPair } from 'jose';

import { TooMuchWaits } from '../lib/fair-turns.ts';
import { KeysUnread } from './issuer-keys.ts';
import { Signatures } from './signatures.ts';

const log = { info() {}, warn() {} };
const at = (name: string) => ({ issuer: `https://${name}.example`, jwksUri: `https://${name}.example/keys` });

/** Signatures of issuers that show so many keys, and the addresses that were asked. */
async function signaturesOf(count: number) {
  const asked: string[] = [];
  const { publicKey } = await generateKeyPair('ES256');
  const key = await exportJWK(publicKey);
  const keys = Array.from({ length: count }, (_, each) => ({ ...key, kid: String(each).padEnd(1_000, 'x') }));
  const fetchFor = () => async (url: string) => {
    asked.push(url);
    return Response.json({ keys });
  };
  return { signatures: new Signatures({ fetchFor, log }), asked };
}

test('an account runs two checks at once, of tokens and of logins together, and leaves a thread to others', async () => {
  const { signatures } = await signaturesOf(1);
  const running = new Map<string, () => void>();
  const start = (owner: string, issuer: string, name: string) =>
    signatures.check(owner, at(issuer), async () => new Promise<void>((end) => running.set(name, end)));
  // Their keys are read before.
  for (const [owner, issuer] of [
    ['b', 'tokens'],
    ['b', 'logins'],
    ['a', 'own'],
  ] as const)
    await signatures.check(owner, at(issuer), async () => {});
  const checks = ['1', '2', '3', '4'].map((name) => start('b', name > '2' ? 'logins' : 'tokens', `b${name}`));
  checks.push(start('a', 'own', 'a1'));
  const names = async () => {
    for (let turns = 0; turns < 3; turns++) await nextTurn();
    return [...running.keys()];
  };
  assert.deepEqual(await names(), ['b1', 'b2', 'a1']);
  running.get('b2')?.();
  running.delete('b2');
  assert.deepEqual(await names(), ['b1', 'a1', 'b3']);
  for (let left = 4; left > 0; left--) {
    for (const [name, end] of running) {
      running.delete(name);
      end();
    }
    await names();
  }
  await Promise.all(checks);
});

test('an account asks eight issuers at once, and keeps no other account from asking its own', async () => {
  const asked: string[] = [];
  const fetchFor =
    () =>
    (url: string): Promise<Response> => {
      asked.push(new URL(url).hostname);
      return Promise.withResolvers<Response>().promise;
    };
  const signatures = new Signatures({ fetchFor, log, answerMs: 300 });
  const ask = (owner: string, issuer: string) =>
    signatures.check(owner, at(issuer), async () => 'checked').catch((error: unknown) => error);
  const waiting = Array.from({ length: 20 }, (_, each) => ask('b', `b${each}`));
  waiting.push(ask('a', 'a'));
  for (let turns = 0; turns < 3; turns++) await nextTurn();
  assert.equal(asked.filter((each) => each.startsWith('b')).length, 8);
  assert.ok(asked.includes('a.example'));
  for (const each of await Promise.all(waiting)) assert.ok(each instanceof KeysUnread);
});

test('an address of keys that is longer than any is neither asked nor told', async () => {
  const asked: string[] = [];
  const told: unknown[] = [];
  const fetchFor = () => async (url: string) => {
    asked.push(url);
    return Response.json({ issuer: 'https://a.example', jwks_uri: `https://a.example/${'x'.repeat(60_000)}` });
  };
  const warn = ({ err }: { readonly err?: unknown }) => void told.push(err);
  const signatures = new Signatures({ fetchFor, log: { info() {}, warn } });
  const keysOf = { issuer: 'https://a.example', jwksUri: '' };
  await assert.rejects(
    signatures.check('a', keysOf, async () => {}),
    KeysUnread,
  );
  assert.deepEqual(asked, ['https://a.example/.well-known/openid-configuration']);
  assert.equal(told.length, 1);
  assert.ok(String(told[0]).length < 300, String(told[0]).slice(0, 300));
});

test('whoever has too many checks waiting is told so, and nobody else is', async () => {
  const { signatures } = await signaturesOf(1);
  await Promise.all([signatures.check('b', at('b'), async () => {}), signatures.check('a', at('a'), async () => {})]);
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const flood = Array.from({ length: 1_100 }, () =>
    signatures.check('b', at('b'), async () => promise).catch((error: unknown) => error),
  );
  assert.equal(await signatures.check('a', at('a'), async () => 'checked'), 'checked');
  resolve(undefined);
  const refused = (await Promise.all(flood)).filter((each) => each instanceof TooMuchWaits);
  assert.equal(refused.length, 1_100 - 1_002);
});

test('an account has one copy of the keys of an issuer, and large sets push out none of another account', async () => {
  const { signatures, asked } = await signaturesOf(200);
  for (let round = 0; round < 3; round++) await signatures.check('a', at('a'), async () => {});
  assert.equal(asked.length, 1);
  for (let each = 0; each < 40; each++) await signatures.check('b', at(`b${each}`), async () => {});
  await signatures.check('a', at('a'), async () => {});
  assert.equal(asked.length, 41);
  await signatures.check('b', at('b39'), async () => {});
  assert.equal(asked.length, 41, 'the newest are known');
  await signatures.check('b', at('b0'), async () => {});
  assert.equal(asked.length, 42, 'not all are');
});
