import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { exportJWK, generateKeyPair, SignJWT } from 'jose';

import { UserError } from '../../src/errors/user-error.ts';
import { OwnAnswer } from '../../src/gateway/sign-in/own-answer.ts';
import { Tokens } from '../../src/gateway/sign-in/tokens.ts';
import type { TokenRule } from '../../src/modules/sign-in.ts';
import { portOf } from './support/https-upstream.ts';

const hourMs = 3_600_000;
const keysMs = 300_000;

test('a token is checked once, again while keys may have changed, and when it has ended', async (t) => {
  const { tokens, clock, rule, decide, headers } = await start(t, hourMs);
  assert.equal(await decide(), 'checked');
  assert.equal(await decide(), 'known');
  clock.ms += hourMs - 1000;
  assert.equal(tokens.mayStay(rule, headers), true);
  assert.equal(await decide(), 'checked');
  assert.equal(await decide(), 'known');
  clock.ms += 61_000;
  assert.equal(tokens.mayStay(rule, headers), false);
  assert.equal(await decide(), 'checked');
  assert.equal(await decide(), 'refused');
});

test('a token that is known is refused once the issuer has taken its key away', async (t) => {
  const { clock, decide, keys } = await start(t, 1e6 * hourMs);
  assert.equal(await decide(), 'checked');
  assert.equal(await decide(), 'known');
  keys.length = 0;
  // The known keys serve while they are read anew.
  clock.ms += keysMs;
  assert.equal(await decide(), 'checked');
  while ((await decide()) !== 'refused') {
    clock.ms += keysMs;
    assert.equal(await decide(), 'checked');
  }
});

type Outcome = 'known' | 'checked' | 'refused';

/** A token of an issuer whose keys can be changed. */
async function start(t: TestContext, lastsMs: number) {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'a', alg: 'ES256' }];
  const server = createServer((_, response) => response.end(JSON.stringify({ keys }))).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${portOf(server)}`;
  const clock = { ms: 1_800_000_000_000 };
  const tokens = new Tokens({
    connect: ({ host, port }, _options, established) => connect(port, host, established),
    log: { warn: () => {}, error: () => {}, info: () => {} },
    clock: () => clock.ms,
  });
  const rule: TokenRule = {
    key: 'rule',
    issuer,
    audiences: ['api'],
    algorithms: ['ES256'],
    jwksUri: `${issuer}/keys`,
    skewSeconds: 60,
    header: 'authorization',
    claims: [],
  };
  const token = await new SignJWT({ iss: issuer, aud: 'api', exp: (clock.ms + lastsMs) / 1000 })
    .setProtectedHeader({ alg: 'ES256', kid: 'a' })
    .sign(privateKey);
  const headers = ['Authorization', `Bearer ${token}`];
  /** How the request is decided: at once, or after a check. */
  const decide = async (): Promise<Outcome> => {
    try {
      tokens.check(rule, headers);
      return 'known';
    } catch (error) {
      if (error instanceof UserError) return 'refused';
      assert.ok(error instanceof OwnAnswer, String(error));
      assert.equal(await error.make(), 'again');
      return 'checked';
    }
  };
  return { tokens, clock, rule, decide, headers, keys };
}
