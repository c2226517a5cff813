import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { test } from 'node:test';

import { openHttp2, requestHttp2, sendRaw } from './support/https-client.ts';
import { documentedPolicy, policyOf, refusalOf, startWithPolicy, vaultWith } from './support/policies.ts';

const secret = 'a secret';
const errorCode = 'gatehouse-error-code';
const sign = (body: string, key = secret) => `sha256=${createHmac('sha256', key).update(body).digest('hex')}`;
const post = (body: string, signature: string, more = '') =>
  `POST /hook HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n${more}X-Hub-Signature-256: ${signature}\r\n` +
  `Content-Length: ${body.length}\r\n\r\n${body}`;
const plain = 'POST /hook HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\nContent-Length: 3\r\n\r\nabc';

test('the documented policy lets signed webhooks pass, byte for byte, and no others', async (t) => {
  const { upstream, gateway } = await startWithPolicy(
    t,
    documentedPolicy('verify-webhook'),
    vaultWith('github', secret),
  );
  const refused = await sendRaw(gateway.port, post('abc', sign('abd')));
  assert.deepEqual([refused.status, refused.headers[errorCode]], [403, 'ERR_GATEHOUSE_3204']);
  assert.equal((await sendRaw(gateway.port, plain)).status, 403);
  assert.equal(upstream.seen.length, 0);
  assert.equal((await sendRaw(gateway.port, post('abc', sign('abc')))).status, 200);
  const session = openHttp2(gateway.port);
  const sent = { ':path': '/hook', ':method': 'POST', 'x-hub-signature-256': sign('abcde') };
  assert.equal((await requestHttp2(session, sent, 'abcde')).status, 200);
  assert.equal((await requestHttp2(session, sent, 'abcdf')).status, 403);
  session.destroy();
  assert.deepEqual(
    upstream.seen.map(({ body }) => body),
    ['abc', 'abcde'],
  );
});

test('a secret that is missing or empty lets nobody in, and never stands in an error', async (t) => {
  const document = policyOf('verify-webhook', { provider: 'github', secret: "${secrets.get('keys', 'github')}" });
  const { upstream, gateway } = await startWithPolicy(t, document);
  const statusWith = async (key: string) => {
    const { status, headers } = await sendRaw(gateway.port, post('abc', sign('abc', key)));
    return [status, headers[errorCode]];
  };
  assert.deepEqual(await statusWith(''), [500, 'ERR_GATEHOUSE_2238']);
  await gateway.set(...vaultWith('github', ''));
  assert.deepEqual(await statusWith(''), [500, 'ERR_GATEHOUSE_2238']);
  assert.match(gateway.reasons.at(-1) ?? '', /the secret cannot be one of GitHub: it is empty/);
  await gateway.set(...vaultWith('github', 'first-one'));
  assert.deepEqual(await statusWith('first-one'), [200, undefined]);
  await gateway.set(...vaultWith('github', 'second-one'));
  assert.equal((await statusWith('first-one'))[0], 403);
  assert.equal((await statusWith('second-one'))[0], 200);
  assert.equal(upstream.seen.length, 2);
  assert.doesNotMatch(JSON.stringify([gateway.logged, gateway.reasons, gateway.answered]), /first-one|second-one/);
});

test('without enforce the outcome is told to later rules, and everybody passes', async (t) => {
  const { upstream, gateway } = await startWithPolicy(t, {
    on_http_request: [
      { actions: [{ type: 'verify-webhook', config: { provider: 'github', secret, enforce: false } }] },
      {
        expressions: ['!actions.ngrok.verify_webhook.verified'],
        actions: [
          {
            type: 'custom-response',
            config: { status_code: 418, body: '${actions.ngrok.verify_webhook.error.code}' },
          },
        ],
      },
    ],
  });
  for (const request of [post('abc', sign('abd')), plain]) {
    const { status, body } = await sendRaw(gateway.port, request);
    assert.deepEqual([status, body], [418, 'ERR_NGROK_3204']);
  }
  assert.equal((await sendRaw(gateway.port, post('abc', sign('abc')))).status, 200);
  assert.equal(upstream.seen.length, 1);
});

test('a rule before it that waits for nothing is run once, and one behind it sees the outcome', async (t) => {
  const { upstream, gateway } = await startWithPolicy(t, {
    on_http_request: [
      { actions: [{ type: 'add-headers', config: { headers: { 'x-before': '1' } } }] },
      { actions: [{ type: 'verify-webhook', config: { provider: 'github', secret } }] },
      {
        expressions: ['actions.ngrok.verify_webhook.verified'],
        actions: [{ type: 'add-headers', config: { headers: { 'x-after': '1' } } }],
      },
    ],
  });
  await sendRaw(gateway.port, post('abc', sign('abc')));
  const headers = upstream.seen[0]?.headers ?? [];
  for (const name of ['x-before', 'x-after']) assert.equal(headers.filter((each) => each === name).length, 1, name);
});

test('challenges of providers are answered, and an upgrade is refused', async (t) => {
  const { upstream, gateway } = await startWithPolicy(t, policyOf('verify-webhook', { provider: 'twitter', secret }));
  const asked = await sendRaw(
    gateway.port,
    'GET /hook?crc_token=abc HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n',
  );
  const token = createHmac('sha256', secret).update('abc').digest('base64');
  assert.deepEqual([asked.status, asked.body], [200, JSON.stringify({ response_token: `sha256=${token}` })]);
  const upgrade = 'GET /hook HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n';
  const refused = await sendRaw(gateway.port, upgrade);
  assert.deepEqual([refused.status, refused.headers[errorCode]], [403, 'ERR_GATEHOUSE_20343']);
  assert.equal(upstream.seen.length, 0);
});

test('what cannot be verified is refused when the policy is written', () => {
  const refusalWith = (config: object) => refusalOf(policyOf('verify-webhook', config));
  assert.match(refusalWith({ provider: 'github' }), /^2234 .*lacks secret/);
  assert.match(refusalWith({ secret }), /^2234 .*lacks provider/);
  assert.match(refusalWith({ provider: 'github', secret: '' }), /^2204 .*config\.secret .*it is empty/);
  assert.match(refusalWith({ provider: 'githup', secret }), /^2204 .*config\.provider .*no provider of this name/);
  assert.match(refusalWith({ provider: 'sns', secret }), /^2204 .*verify the message in the upstream server/);
  assert.match(refusalWith({ provider: 'svix', secret: '!' }), /^2204 .*config\.secret .*must be base64/);
});
