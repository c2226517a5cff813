import assert from 'node:assert/strict';
import { mock, test } from 'node:test';

import { sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { audience, TokenIssuer } from './support/token-issuer.ts';

test('a request on which nothing can be decided is answered and logged, and does not go round for ever', async (t) => {
  await using issuer = await TokenIssuer.start('a');
  // Whatever was found out is over when it is looked at: each look at the clock is an hour later.
  let nowMs = Date.now();
  mock.method(Date, 'now', () => (nowMs += 3_600_000));
  t.after(() => mock.restoreAll());
  const jwt_validation = {
    enabled: true,
    issuer: issuer.url,
    audiences: [audience],
    algorithms: ['ES256'],
    jwks_uri: '',
    clock_skew: 0,
    header: 'authorization',
    claims: {},
  };
  const route = prefixRoute('/', { ...toBackend('b'), jwt_validation });
  await using gateway = await startGateway([backendEntry('b', 1), edgeEntry('e', ['app.test'], [route])]);
  const token = await issuer.token({}, 'a', 1e9);
  const head = `GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\nAuthorization: Bearer ${token}\r\n\r\n`;
  assert.equal((await sendRaw(gateway.port, head)).status, 500);
  const failed = gateway.logged.filter(({ message }) => message === 'request failed');
  assert.equal(failed.length, 1);
});
