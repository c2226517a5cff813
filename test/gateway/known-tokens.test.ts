import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { test } from 'node:test';

import { exportJWK, generateKeyPair, SignJWT } from 'jose';

import { UserError } from '../../src/errors/user-error.ts';
import { OwnAnswer } from '../../src/gateway/sign-in/own-answer.ts';
import { Tokens } from '../../src/gateway/sign-in/tokens.ts';
import type { TokenRule } from '../../src/modules/sign-in.ts';
import { portOf } from './support/https-upstream.ts';

const hourMs = 3_600_000;

test('a token is checked once, and again when it has ended', async (t) => {
  const { privateKey, publicKey } = await generateKeyPair('ES256');
  const jwk = { ...(await exportJWK(publicKey)), kid: 'a', alg: 'ES256' };
  const server = createServer((_, response) => response.end(JSON.stringify({ keys: [jwk] }))).listen(0, '127.0.0.1');
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
  const token = await new SignJWT({ iss: issuer, aud: 'api', exp: (clock.ms + hourMs) / 1000 })
    .setProtectedHeader({ alg: 'ES256', kid: 'a' })
    .sign(privateKey);
  const headers = ['Authorization', `Bearer ${token}`];
  /** How the request is decided: at once, or after a check. */
  const decide = async (): Promise<'known' | 'checked' | 'refused'> => {
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
  assert.equal(await decide(), 'checked');
  assert.equal(await decide(), 'known');
  clock.ms += hourMs - 1000;
  assert.equal(await decide(), 'known');
  assert.equal(tokens.mayStay(rule, headers), true);
  clock.ms += 61_000;
  assert.equal(tokens.mayStay(rule, headers), false);
  assert.equal(await decide(), 'checked');
  assert.equal(await decide(), 'refused');
});
