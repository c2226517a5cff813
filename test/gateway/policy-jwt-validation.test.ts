import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { connectClient, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend, trafficPolicy } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { headerValues, startRawUpstream } from './support/https-upstream.ts';
import { documentedPolicy, policyOf, refusalOf, startWithPolicy } from './support/policies.ts';
import { until } from './support/tcp-engine.ts';
import { audience, TokenIssuer } from './support/token-issuer.ts';

const errorCode = 'gatehouse-error-code';
const bearer = { type: 'jwt', method: 'header', name: 'Authorization', prefix: 'Bearer ' };

async function startIssuer(t: TestContext, ...kids: readonly string[]): Promise<TokenIssuer> {
  const issuer = await TokenIssuer.start(...kids);
  t.after(() => issuer[Symbol.asyncDispose]());
  return issuer;
}

function configOf(urls: readonly string[], more: object = {}, keysAt = urls): object {
  return {
    issuer: { allow_list: urls.map((value) => ({ value })) },
    audience: { allow_list: [{ value: 'https://other.test' }, { value: audience }] },
    http: { tokens: [bearer] },
    jws: {
      allowed_algorithms: ['ES256', 'RS256'],
      keys: { sources: { additional_jkus: keysAt.map((url) => `${url}/keys`) } },
    },
    ...more,
  };
}

const ask = (port: number, headers: string, body = '', method = 'GET') =>
  sendRaw(
    port,
    `${method} / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n${headers}` +
      `${body === '' ? '' : `Content-Length: ${body.length}\r\n`}\r\n${body}`,
  );

test('the documented policy lets tokens of the issuer in, and tells the upstream whose they are', async (t) => {
  const issuer = await startIssuer(t, 'a');
  const document = documentedPolicy('jwt-validation')
    .replace('https://id.example.com/keys', `${issuer.url}/keys`)
    .replace('https://id.example.com/', issuer.url);
  const { upstream, gateway } = await startWithPolicy(t, document);
  const none = await ask(gateway.port, '');
  assert.deepEqual(
    [none.status, none.headers[errorCode], none.headers['www-authenticate']],
    [401, 'ERR_GATEHOUSE_20324', 'Bearer'],
  );
  const token = await issuer.token();
  assert.equal((await ask(gateway.port, `Authorization: Bearer ${token}\r\n`)).status, 200);
  assert.deepEqual(headerValues(upstream.seen[0]?.headers ?? [], 'x-user'), ['ada']);
  const [head = '', payload = '', signature = ''] = token.split('.');
  const unsigned = Buffer.from(JSON.stringify({ alg: 'none' })).toString('base64url');
  const wrong = [
    await issuer.token({ aud: 'https://elsewhere.test' }),
    await issuer.token({ iss: `${issuer.url}/` }),
    await issuer.token({ exp: undefined }),
    await issuer.token({}, 'a', -120),
    `${head}.${Buffer.from('{"sub":"eve"}').toString('base64url')}.${signature}`,
    `${unsigned}.${payload}.${signature}`,
    `${head}.${payload}.`,
    'a.b.c',
  ];
  for (const each of wrong) {
    const { status } = await ask(gateway.port, `Authorization: Bearer ${each}\r\n`);
    assert.equal(status, 401, each);
  }
  assert.equal((await ask(gateway.port, `Authorization: ${token}\r\n`)).status, 401);
  const twice = `Authorization: Bearer ${token}\r\nAuthorization: Bearer ${token}\r\n`;
  assert.notEqual((await ask(gateway.port, twice)).status, 200);
  assert.equal(upstream.seen.length, 1);
  assert.doesNotMatch(JSON.stringify([gateway.logged, gateway.reasons, gateway.answered]), new RegExp(signature));
});

test('any of several issuers and key sets is enough, and keys may be lists of maps', async (t) => {
  const [first, second, stranger] = [await startIssuer(t, 'a'), await startIssuer(t, 'b'), await startIssuer(t, 'a')];
  const sources = [{ additional_jkus: [`${first.url}/keys`] }, { additional_jkus: [`${second.url}/keys`] }];
  const config = configOf([first.url, second.url], {
    jws: { allowed_algorithms: ['ES256'], keys: [{ sources }] },
  });
  const { upstream, gateway } = await startWithPolicy(t, policyOf('jwt-validation', config));
  for (const [issuer, kid] of [
    [first, 'a'],
    [second, 'b'],
  ] as const)
    assert.equal((await ask(gateway.port, `Authorization: Bearer ${await issuer.token({}, kid)}\r\n`)).status, 200);
  for (const claims of [{}, { iss: first.url }]) {
    const { status } = await ask(gateway.port, `Authorization: Bearer ${await stranger.token(claims)}\r\n`);
    assert.equal(status, 401);
  }
  assert.deepEqual(stranger.asked, [], 'nobody is asked for keys whom the policy does not name');
  assert.equal(upstream.seen.length, 2);
});

test('a token in a body is read of JSON and of forms, and all listed tokens must be there', async (t) => {
  const issuer = await startIssuer(t, 'a');
  const tokens = [{ type: 'access_token', method: 'body', name: 'Token' }];
  const { upstream, gateway, setPolicy } = await startWithPolicy(
    t,
    policyOf('jwt-validation', configOf([issuer.url], { http: { tokens } })),
  );
  const token = await issuer.token();
  const json = 'Content-Type: application/json; charset=utf-8\r\n';
  const form = 'Content-Type: application/x-www-form-urlencoded\r\n';
  const statusOf = async (headers: string, body: string, method = 'POST') =>
    (await ask(gateway.port, headers, body, method)).status;
  assert.equal(await statusOf(json, JSON.stringify({ token, a: 1 })), 200);
  assert.equal(await statusOf(form, `a=b&token=${token}`, 'PUT'), 200);
  assert.equal(upstream.seen[1]?.body, `a=b&token=${token}`);
  const refused: readonly (readonly [string, string, string?])[] = [
    [json, `{"token":"evil","token":"${token}"}`],
    [json, `{"token":"${token}","Token":"${token}"}`],
    [form, `token=${token}&token=evil`],
    [json, JSON.stringify({ a: { token } })],
    [json, JSON.stringify([{ token }])],
    [json, 'token'],
    ['', JSON.stringify({ token })],
    [json, JSON.stringify({ token }), 'DELETE'],
    [json, ''],
  ];
  for (const [headers, body, method] of refused) assert.equal(await statusOf(headers, body, method), 401, body);
  assert.equal(await statusOf(json, JSON.stringify({ token, long: 'x'.repeat(200_000) })), 413);
  await setPolicy(policyOf('jwt-validation', configOf([issuer.url], { http: { tokens: [...tokens, bearer] } })));
  assert.equal(await statusOf(json, JSON.stringify({ token })), 401);
  assert.equal(await statusOf(`${json}Authorization: bearer ${token}\r\n`, JSON.stringify({ token })), 200);
  assert.equal(upstream.seen.length, 3);
});

test('a type of a token that its header must name, and keys that cannot be read, let nobody in', async (t) => {
  const issuer = await startIssuer(t, 'a');
  const tokens = [{ ...bearer, type: 'at+jwt' }];
  const { gateway, setPolicy } = await startWithPolicy(
    t,
    policyOf('jwt-validation', configOf([issuer.url], { http: { tokens } })),
  );
  const statusOf = async () => (await ask(gateway.port, `Authorization: Bearer ${await issuer.token()}\r\n`)).status;
  assert.equal(await statusOf(), 401);
  await setPolicy(policyOf('jwt-validation', configOf([issuer.url], {}, [`${issuer.url}/moved`])));
  issuer.fault = 500;
  assert.equal(await statusOf(), 503);
});

test('an upgraded connection ends with the token that has opened it', async (t) => {
  const issuer = await startIssuer(t, 'a');
  const upstream = await startRawUpstream((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nup');
  });
  t.after(() => upstream[Symbol.asyncDispose]());
  const modules = { ...toBackend('b'), ...trafficPolicy(policyOf('jwt-validation', configOf([issuer.url]))) };
  // Nothing ends it but its token.
  const gateway = await startGateway(
    [backendEntry('b', upstream.port), edgeEntry('e', ['app.test'], [prefixRoute('/', modules)])],
    { timeouts: { idleMs: 86_400_000 } },
  );
  t.after(() => gateway[Symbol.asyncDispose]());
  // Clocks may differ by a minute.
  const token = await issuer.token({}, 'a', -56);
  const client = await connectClient(gateway.port);
  let text = '';
  client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).on('error', () => {});
  const upgrade = 'Connection: Upgrade\r\nUpgrade: echo\r\n';
  client.write(`GET / HTTP/1.1\r\nHost: app.test\r\n${upgrade}Authorization: Bearer ${token}\r\n\r\n`);
  await until(() => text.endsWith('up'), 'the upgrade');
  if (!client.destroyed) await once(client, 'close');
});

test('what cannot be checked is refused when the policy is written', () => {
  const url = 'https://id.example.com';
  const refusalWith = (more: object) => refusalOf(policyOf('jwt-validation', configOf([url], more)));
  const keys = (jku: string) => ({ sources: { additional_jkus: [jku] } });
  const jws = (more: object) => ({ jws: { allowed_algorithms: ['ES256'], keys: keys(`${url}/keys`), ...more } });
  assert.match(refusalWith({ issuer: undefined }), /at least one issuer/);
  assert.match(refusalWith({ issuer: { allow_list: [] } }), /at least one value/);
  assert.match(refusalWith({ audience: { allow_list: [] } }), /at least one value/);
  assert.match(refusalWith({ issuer: { allow_list: [{ valu: 'a' }] } }), /lacks value/);
  assert.match(refusalWith({ http: { tokens: [] } }), /at least one token/);
  assert.match(refusalWith({ http: { tokens: [{ ...bearer, type: 'plain' }] } }), /plain tokens are not signed/);
  assert.match(refusalWith({ http: { tokens: [{ ...bearer, method: 'query' }] } }), /^2222 /);
  assert.match(refusalWith({ http: { tokens: [{ ...bearer, name: 'a b' }] } }), /no header has such a name/);
  assert.match(refusalWith({ http: { tokens: [{ ...bearer, name: '${req.method}' }] } }), /write it out/);
  assert.match(refusalWith(jws({ allowed_algorithms: ['none'] })), /^2222 .*"none"/);
  assert.match(refusalWith(jws({ allowed_algorithms: ['HS256'] })), /^2222 /);
  assert.match(refusalWith(jws({ allowed_algorithms: [] })), /at least one of/);
  assert.match(refusalWith(jws({ keys: keys('http://id.example.com/keys') })), /^2226 .*https/);
  assert.match(refusalWith(jws({ keys: keys('https://${req.host}/keys') })), /^2226 .*choose the keys/);
  assert.match(refusalWith(jws({ keys: { sources: {} } })), /lacks additional_jkus/);
  assert.match(refusalWith(jws({ key: {} })), /did you mean keys/);
});
