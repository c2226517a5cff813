import assert from 'node:assert/strict';
import { test } from 'node:test';

import { connectClient, get, openHttp2, parseAnswer, readAll, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend, trafficPolicy } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { headerValues, startUpstream } from './support/https-upstream.ts';
import { clients } from './support/https-versions.ts';
import { policyOf, startWithPolicy, vaultWith } from './support/policies.ts';
import { until } from './support/tcp-engine.ts';

const errorCode = 'gatehouse-error-code';
const onRequest = (...on_http_request: readonly object[]) => ({ on_http_request });
const rule = (type: string, config: object, ...expressions: readonly string[]) => ({
  expressions,
  actions: [{ type, config }],
});

for (const [version, ask] of Object.entries(clients))
  test(`${version}: an answer without content announces no length`, async (t) => {
    const { gateway, setPolicy } = await startWithPolicy(t, policyOf('custom-response', {}));
    for (const phase of ['on_http_request', 'on_http_response'])
      for (const status of [204, 205, 304]) {
        await setPolicy(policyOf('custom-response', { status_code: status }, phase));
        const { headers, ...answer } = await ask(gateway.port, {});
        assert.deepEqual([answer.status, headers['content-length']], [status, status === 205 ? '0' : undefined], phase);
      }
  });

test('a Host that is added takes the place of the one that came, and results name each header with its value', async (t) => {
  const headers = { host: 'inner.test', 'x-b': 'two', 'x-c': 'three' };
  const { upstream, gateway } = await startWithPolicy(
    t,
    onRequest(
      rule('add-headers', { headers }),
      rule('add-headers', { headers: { 'x-told': '${actions.ngrok.add_headers.headers_added}' } }),
    ),
  );
  const session = openHttp2(gateway.port);
  await requestHttp2(session, { ':path': '/' });
  session.destroy();
  await sendRaw(gateway.port, get('/'));
  assert.equal(upstream.seen.length, 2);
  for (const seen of upstream.seen) {
    assert.deepEqual(headerValues(seen.headers, 'host'), ['inner.test']);
    assert.deepEqual(JSON.parse(headerValues(seen.headers, 'x-told').join('')), headers);
  }
});

test('a value of a vault does not move the end of a name', async (t) => {
  const basic = (text: string) => get('/', `Authorization: Basic ${Buffer.from(text).toString('base64')}`);
  const credential = "${secrets.get('keys', 'name')}:${secrets.get('keys', 'word')}";
  const { gateway } = await startWithPolicy(t, policyOf('basic-auth', { credentials: [credential] }), [
    ...vaultWith('name', 'ada'),
    ...vaultWith('word', 'long enough'),
  ]);
  assert.equal((await sendRaw(gateway.port, basic('ada:long enough'))).status, 200);
  for (const [name, value] of [
    ['name', 'a:da'],
    ['word', 'long:enough'],
  ] as const) {
    await gateway.set(...vaultWith('name', 'ada'), ...vaultWith('word', 'long enough'), ...vaultWith(name, value));
    const sent = name === 'name' ? 'a:da:long enough' : 'ada:long:enough';
    const { status, headers } = await sendRaw(gateway.port, basic(sent));
    assert.deepEqual([status, headers[errorCode]], [500, 'ERR_GATEHOUSE_2238'], name);
  }
});

test('each circuit breaker of a policy looks at its own requests', async (t) => {
  const upstream = await startUpstream(
    ({ url }, response) => void response.writeHead(url?.startsWith('/a') ? 500 : 200).end(),
  );
  t.after(() => upstream[Symbol.asyncDispose]());
  const breaker = { error_threshold: 0.5, volume_threshold: 3, tripped_duration: '2m' };
  const policy = onRequest(
    rule('circuit-breaker', breaker, "req.url.path == '/a'"),
    rule('circuit-breaker', breaker, "req.url.path == '/b'"),
  );
  const edge = edgeEntry('e', ['app.test'], [prefixRoute('/', { ...toBackend('b'), ...trafficPolicy(policy) })]);
  const gateway = await startGateway([backendEntry('b', upstream.port), edge]);
  t.after(() => gateway[Symbol.asyncDispose]());
  const statusOf = async (path: string) => (await sendRaw(gateway.port, get(path))).status;
  for (let round = 0; round < 3; round++) assert.equal(await statusOf('/a'), 500);
  assert.deepEqual([await statusOf('/a'), await statusOf('/b'), await statusOf('/ab')], [503, 200, 500]);
});

test('a visit that waits while its policy changes is counted once', async (t) => {
  const limit = { name: 'n', algorithm: 'sliding_window', capacity: 2, rate: '10m', bucket_key: ['req.host'] };
  const waits = { provider: 'github', secret: 'long enough', enforce: false };
  const policyWith = (mark: string) =>
    onRequest(rule('rate-limit', limit), rule('log', { metadata: { mark } }), rule('verify-webhook', waits));
  const { upstream, gateway, setPolicy } = await startWithPolicy(t, policyWith('before'));
  const client = await connectClient(gateway.port);
  const answered = readAll(client);
  const signature = `X-Hub-Signature-256: sha256=${'0'.repeat(64)}\r\n`;
  client.write(`POST / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\nContent-Length: 4\r\n${signature}\r\nbo`);
  await until(() => gateway.noted.length > 0, 'the visit waits for its body');
  await setPolicy(policyWith('after'));
  client.write('dy');
  assert.equal(parseAnswer(await answered).status, 200);
  assert.match(JSON.stringify(gateway.noted), /before.*after/, 'it was begun anew');
  assert.deepEqual(
    [(await sendRaw(gateway.port, get('/'))).status, (await sendRaw(gateway.port, get('/'))).status],
    [200, 429],
  );
  assert.equal(upstream.seen.length, 2);
});

test('a line of the log is bounded', async (t) => {
  const { gateway } = await startWithPolicy(t, policyOf('log', { metadata: { path: '${req.url.path}' } }));
  const statusOf = async (length: number) => (await sendRaw(gateway.port, get(`/${'x'.repeat(length)}`))).status;
  assert.deepEqual([await statusOf(16_000), await statusOf(16_400)], [200, 500]);
  assert.equal(gateway.noted.length, 1);
});

test('a redirect to the URL itself is none', async (t) => {
  const { gateway } = await startWithPolicy(
    t,
    onRequest(
      rule('redirect', { to: 'https://app.test/same' }),
      rule('redirect', { from: '^/a(.*)$', to: '/a$1' }),
      rule('url-rewrite', { from: '/a', to: '/a' }),
    ),
  );
  const [same, other] = [await sendRaw(gateway.port, get('/same')), await sendRaw(gateway.port, get('/a/b'))];
  assert.deepEqual([same.status, other.status, other.headers['location']], [200, 302, 'https://app.test/same']);
});

test('a rule guards if any of its actions does', async (t) => {
  const guard = { type: 'restrict-ips', config: { deny: ['192.0.2.1'], allow: ['127.0.0.1'] } };
  const effect = { type: 'add-headers', config: { headers: { 'x-a': 'b' } } };
  const statusWith = async (...actions: readonly object[]) => {
    const { gateway } = await startWithPolicy(t, onRequest({ expressions: ['int(req.method) == 1'], actions }));
    return (await sendRaw(gateway.port, get('/'))).status;
  };
  assert.deepEqual(
    [await statusWith(effect), await statusWith(guard, effect), await statusWith(effect, guard)],
    [200, 500, 500],
  );
});

test('headers that rules go by cannot be hidden from the upstream, wherever a rule reads them', async (t) => {
  const places: readonly object[] = [
    rule('deny', {}, "getReqHeader('x-role') == ['none']"),
    rule('add-headers', { headers: { 'x-b': "${req.headers['x-role']}" } }),
    rule('set-vars', { vars: [{ role: "${getReqHeader('x-role')}" }] }),
  ];
  for (const place of places) {
    const { upstream, gateway } = await startWithPolicy(t, onRequest(place));
    const hidden = 'GET / HTTP/1.1\r\nHost: app.test\r\nX-Role: a\r\nConnection: close, X-Role\r\n\r\n';
    assert.equal((await sendRaw(gateway.port, hidden)).status, 400, JSON.stringify(place));
    assert.equal((await sendRaw(gateway.port, get('/', 'X-Role: a'))).status, 200);
    assert.equal(upstream.seen.length, 1);
  }
});

test('texts that are put together of one another do not grow without bound', async (t) => {
  const times = (name: string) => `\${vars.${name}}`.repeat(10);
  const vars = [{ a: 'x'.repeat(1000) }, { b: times('a') }, { c: times('b') }, { d: times('c') }];
  const { gateway } = await startWithPolicy(
    t,
    onRequest(
      rule('set-vars', { vars }, "req.url.path.startsWith('/')"),
      rule('set-vars', { vars: [{ e: times('d') }] }, "req.url.path == '/long'"),
    ),
  );
  assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
  const { status, headers } = await sendRaw(gateway.port, get('/long'));
  assert.deepEqual([status, headers[errorCode]], [500, 'ERR_GATEHOUSE_2238']);
});
