import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { gunzipSync } from 'node:zlib';

import { connectClient, get, openHttp2, readAll, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend, trafficPolicy } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startUpstream } from './support/https-upstream.ts';

const errorCode = 'gatehouse-error-code';

type Answerer = Parameters<typeof startUpstream>[0];

const edgeWith = (document: object) =>
  edgeEntry('e', ['app.test'], [prefixRoute('/', { ...toBackend('b'), ...trafficPolicy(document) })]);

async function start(t: TestContext, document: object, answer?: Answerer) {
  const upstream = await startUpstream(answer);
  t.after(() => upstream[Symbol.asyncDispose]());
  const gateway = await startGateway([backendEntry('b', upstream.port), edgeWith(document)]);
  t.after(() => gateway[Symbol.asyncDispose]());
  return { upstream, gateway };
}

const action = (type: string, config: object, expressions: readonly string[] = []) => ({
  expressions,
  actions: [{ type, config }],
});
const onRequest = (...on_http_request: readonly object[]) => ({ on_http_request });

async function over2(port: number, path: string, headers: Readonly<Record<string, string>> = {}) {
  const session = openHttp2(port);
  session.on('error', () => {});
  try {
    return await requestHttp2(session, { ':path': path, ...headers });
  } finally {
    session.destroy();
  }
}

const redirects: readonly (readonly [config: object, path: string, location: string | undefined])[] = [
  [{ from: '/v1/', to: '/v2/' }, '/a/v1/u?x=1', 'https://app.test/a/v2/u?x=1'],
  [{ from: '/v1/', to: '/v2/' }, '/a', undefined],
  [{ to: 'https://new.test${req.url.path}' }, '/a%20b', 'https://new.test/a%20b'],
  [{ from: '^/old(.*)$', to: '/new$1' }, '/old/x?y', 'https://app.test/new/x?y'],
  [{ from: String.raw`^\/old(?P<rest>.*)$`, to: 'https://other.test/n$rest' }, '/old/x', 'https://other.test/n/x'],
  [
    {
      from: String.raw`^(?P<scheme>https?):\/\/(?P<host>[^\/:]+)(?P<port>:\d+)?(?P<path>\/.*)$`,
      to: '$1://www.test$3/p$4',
    },
    '/x',
    'https://www.test/p/x',
  ],
  [{ from: 'https://${req.url.authority}/a.c', to: 'https://b.test' }, '/a.c/d', 'https://b.test/d'],
];

for (const [config, path, location] of redirects) {
  test(`a redirect by ${JSON.stringify(config)} leads from ${path} to ${location}`, async (t) => {
    const { upstream, gateway } = await start(t, onRequest(action('redirect', { ...config, status_code: 301 })));
    const [one, two] = [await sendRaw(gateway.port, get(path)), await over2(gateway.port, path)];
    for (const { status, headers } of [one, two])
      assert.deepEqual([status, headers['location']], [location === undefined ? 200 : 301, location]);
    assert.equal(upstream.seen.length, location === undefined ? 2 : 0);
  });
}

test('what is filled into a URL never leads to another host', async (t) => {
  const hostile = [
    'evil.test/',
    'evil.test?',
    'evil.test#',
    'a@evil.test',
    String.raw`evil.test\ `.trim(),
    '/evil.test',
  ];
  const rules = [
    action('redirect', { to: "https://${getQueryParam('h')[0]}.app.test/x" }, ["req.url.path == '/value'"]),
    action('redirect', { from: '^https://app.test/group[?]h=(.*)$', to: 'https://$1.app.test/x' }, [
      "req.url.path == '/group'",
    ]),
    action('redirect', { to: "/${getQueryParam('h')[0]}" }, ["req.url.path == '/path'"]),
  ];
  const { gateway } = await start(t, onRequest(...rules));
  for (const value of hostile)
    for (const path of ['/value', '/group']) {
      const query =
        path === '/value' ? encodeURIComponent(value) : value.replaceAll('\\', '%5c').replaceAll('#', '%23');
      const { status, headers } = await sendRaw(gateway.port, get(`${path}?h=${query}`));
      assert.deepEqual([status, headers[errorCode]], [500, 'ERR_GATEHOUSE_2238'], `${path} ${value}`);
    }
  for (const value of ['/evil.test', '%5cevil.test', 'a%0d%0aX: y'])
    assert.equal((await sendRaw(gateway.port, get(`/path?h=${value.replaceAll(' ', '%20')}`))).status, 500, value);
  for (const [config, path, location] of [
    [{ from: '^/old(.*)$', to: 'https://new.test$1' }, '/old.evil.test', undefined],
    [{ from: '^/old(.*)$', to: 'https://new.test$1' }, '/old-evil.test/x', undefined],
    [{ from: '^/old(.*)$', to: 'https://new.test$1' }, '/old/x', 'https://new.test/x'],
    [{ from: '^/old(.*)$', to: 'https://new.test$1' }, '/old', 'https://new.test'],
    [{ from: '^/old(.*)$', to: 'https://${req.host}$1/' }, '/old.evil.test', undefined],
    [{ from: '^/old([0-9]*)$', to: 'https://app$1.new.test/' }, '/old7', 'https://app7.new.test/'],
    [{ from: '^(https?)://([^/:]+)(:[0-9]+)?(/.*)$', to: '$1://www.$2$3/x$4' }, '/y', 'https://www.app.test/x/y'],
    [{ from: '^https://[^/]+/old(/.*)$', to: '$1/' }, '/old//evil.test', undefined],
  ] as const) {
    await gateway.set(edgeWith(onRequest(action('redirect', config))));
    const { status, headers } = await sendRaw(gateway.port, get(path));
    assert.deepEqual([status, headers['location']], [location === undefined ? 500 : 302, location], path);
  }
  await gateway.set(edgeWith(onRequest(...rules)));
  const good = await sendRaw(gateway.port, get('/value?h=team'));
  assert.equal(good.headers['location'], 'https://team.app.test/x');
});

test('the upstream gets a rewritten URL, and later rules see it', async (t) => {
  const { upstream, gateway } = await start(
    t,
    onRequest(
      action('url-rewrite', { from: '^/api/(.*)$', to: '/$1' }),
      action('url-rewrite', { from: 'aa', to: 'b' }),
      action('url-rewrite', { from: 'https://app.test/host', to: 'https://inner.test/h' }),
      action('deny', {}, ["req.url.path == '/secret'"]),
      action('url-rewrite', { from: 'bad', to: '../x' }),
    ),
  );
  for (const [path, wanted, host] of [
    ['/api/x%20y?z=/api/1', '/x%20y?z=/api/1', 'app.test'],
    ['/aa/aaaa', '/b/bb', 'app.test'],
    ['/host/a?b', '/h/a?b', 'inner.test'],
  ] as const) {
    assert.equal((await sendRaw(gateway.port, get(path))).status, 200, path);
    const { url, headers } = upstream.seen.at(-1)!;
    assert.deepEqual([url, headers[headers.indexOf('Host') + 1]], [wanted, host]);
    await over2(gateway.port, path);
    assert.equal(upstream.seen.at(-1)?.url, wanted);
  }
  assert.equal((await sendRaw(gateway.port, get('/api/secret'))).status, 403);
  assert.equal((await sendRaw(gateway.port, get('/bad'))).status, 500, 'a path that leads upwards');
});

test('a path that servers read in several ways is refused where a guard goes by a variable of it', async (t) => {
  const vars = action('set-vars', { vars: [{ path: '${req.url.path}' }, { part: "${vars.path.split('/')[1]}" }] });
  const { gateway } = await start(
    t,
    onRequest(
      vars,
      action('url-rewrite', { from: '^/.*$', to: '/all' }),
      action('deny', {}, ["vars.part == 'admin'"]),
      action('set-vars', { vars: [{ team: 'a' }] }, ["vars.part == 'x'"]),
    ),
  );
  for (const [path, status] of [
    ['/admin', 403],
    ['/;x/admin', 400],
    ['/x//admin', 400],
    ['/x', 200],
  ] as const)
    assert.equal((await sendRaw(gateway.port, get(path))).status, status, path);
});

test('a path that servers read in several ways is refused where rules tell these apart', async (t) => {
  const { gateway } = await start(t, onRequest(action('deny', {}, ["req.url.path.startsWith('/admin')"])));
  for (const [path, status] of [
    ['/admin', 403],
    ['/%61dmin', 403],
    ['/a//admin', 200],
    ['/x;y/z', 200],
    ['/admi;x', 200],
    ['/admin;x', 403],
    ['/adm;x/../admin', 400],
    ['/%2561dmin', 400],
    ['/a;b//c', 200],
  ] as const)
    assert.equal((await sendRaw(gateway.port, get(path))).status, status, path);
});

test('a visitor gives a name and a password, which may come of a vault', async (t) => {
  const { upstream, gateway } = await start(
    t,
    onRequest({
      actions: [
        {
          type: 'basic-auth',
          config: { realm: 'staff', credentials: ['ada:correct:horse', "bob:${secrets.get('v', 's')}"] },
        },
        { type: 'add-headers', config: { headers: { 'x-user': '${actions.ngrok.basic_auth.credentials.username}' } } },
      ],
    }),
  );
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });
  assert.equal((await over2(gateway.port, '/', basic('ada:correct:horse'))).status, 500, 'a secret is missing');
  await gateway.set(
    { kind: 'vault', id: 'vault_1', accountId: 'acc_1', name: 'v' },
    { kind: 'vault_secret', id: 'secret_1', vaultId: 'vault_1', name: 's', value: 'long enough' },
  );
  const asked = await over2(gateway.port, '/');
  assert.deepEqual([asked.status, asked.headers['www-authenticate']], [401, 'Basic realm="staff", charset="UTF-8"']);
  for (const wrong of ['ada:correct', 'bob:other one', 'eve:long enough', ''])
    assert.equal((await over2(gateway.port, '/', basic(wrong))).status, 401, wrong);
  assert.equal(upstream.seen.length, 0);
  for (const right of ['ada:correct:horse', 'bob:long enough']) {
    const authorization = `Authorization: ${basic(right).authorization}`;
    assert.equal((await sendRaw(gateway.port, get('/', authorization))).status, 200, right);
    const { headers } = upstream.seen.at(-1)!;
    assert.equal(headers[headers.indexOf('x-user') + 1], right.split(':')[0]);
  }
});

test('each combination of keys is counted apart, and what is not enforced only tells', async (t) => {
  const limit = {
    name: 'n',
    algorithm: 'sliding_window',
    capacity: 2,
    rate: '60s',
    bucket_key: ['req.host', "getReqHeader('x-who')"],
  };
  const { upstream, gateway } = await start(
    t,
    onRequest(
      { actions: [{ type: 'rate-limit', config: { ...limit, name: 'soft', capacity: 1, enforce: false } }] },
      action('add-headers', { headers: { 'x-over': '${actions.ngrok.rate_limit.limited}' } }),
      { actions: [{ type: 'rate-limit', config: limit }] },
    ),
  );
  const ask = async (who: string) => (await over2(gateway.port, '/', { 'x-who': who })).status;
  assert.deepEqual([await ask('a'), await ask('a'), await ask('a'), await ask('b')], [200, 200, 429, 200]);
  const overs = upstream.seen.map(({ headers }) => headers[headers.indexOf('x-over') + 1]);
  assert.deepEqual(overs, ['false', 'true', 'false']);
  const refused = await sendRaw(gateway.port, get('/', 'x-who: a'));
  assert.match(refused.headers['retry-after'] ?? '', /^\d+$/);
});

test('limits of one name hold side by side', async (t) => {
  const limit = { name: 'n', algorithm: 'sliding_window', rate: '60s' };
  const { gateway } = await start(
    t,
    onRequest(
      action('rate-limit', { ...limit, capacity: 100, bucket_key: ["getReqHeader('x-who')"] }),
      action('rate-limit', { ...limit, capacity: 1, bucket_key: ['conn.client_ip'] }),
    ),
  );
  const ask = async (who: string) => (await over2(gateway.port, '/', { 'x-who': who })).status;
  assert.deepEqual([await ask('a'), await ask('b')], [200, 429]);
});

test('an upstream that fails is spared', async (t) => {
  const failing: Answerer = (_request, response) => void response.writeHead(500).end();
  const breaker = { error_threshold: 0.5, volume_threshold: 3, tripped_duration: '2m' };
  const { upstream, gateway } = await start(t, onRequest(action('circuit-breaker', breaker)), failing);
  for (let round = 0; round < 3; round++) assert.equal((await sendRaw(gateway.port, get('/'))).status, 500);
  const spared = await over2(gateway.port, '/');
  assert.deepEqual([spared.status, spared.headers[errorCode], upstream.seen.length], [503, 'ERR_GATEHOUSE_3202', 3]);
});

test('a connection is closed without an answer; of HTTP/2, the stream', async (t) => {
  const { upstream, gateway } = await start(t, onRequest(action('close-connection', {}, ["req.method == 'DELETE'"])));
  const client = await connectClient(gateway.port);
  client.write('DELETE / HTTP/1.1\r\nHost: app.test\r\n\r\n');
  assert.equal(await readAll(client), '');
  const session = openHttp2(gateway.port);
  assert.equal((await requestHttp2(session, { ':path': '/', ':method': 'DELETE' })).status, 0);
  assert.equal((await requestHttp2(session, { ':path': '/' })).status, 200);
  session.destroy();
  assert.equal(upstream.seen.length, 1);
});

test('a note stands in the log, with its values', async (t) => {
  const { gateway } = await start(
    t,
    onRequest(action('log', { metadata: { path: '${req.url.path}', all: [1, '${1 + 1}'], key: 'a ${req.method}' } })),
  );
  await over2(gateway.port, '/x');
  const notes = gateway.noted.flatMap((fields) => ('traffic_policy' in fields ? [fields.traffic_policy] : []));
  assert.deepEqual(notes, [{ metadata: { path: '/x', all: [1, 2], key: 'a GET' } }]);
});

test('a visit writes no more into the log than its work allows', async (t) => {
  const note = { type: 'log', config: { metadata: { all: '${vars.all}' } } };
  const vars = { type: 'set-vars', config: { vars: [{ all: 'x'.repeat(16_000) }] } };
  const { gateway } = await start(t, onRequest({ actions: [vars, ...Array.from({ length: 50 }, () => note)] }));
  const { status, headers } = await sendRaw(gateway.port, get('/'));
  assert.deepEqual([status, headers[errorCode]], [500, 'ERR_GATEHOUSE_2238']);
  const notes = gateway.noted.filter((fields) => 'traffic_policy' in fields);
  assert.ok(notes.length > 0 && notes.length < 20, `${notes.length}`);
});

test('answers are compressed with what both sides know', async (t) => {
  const text = 'a line of text\n'.repeat(500);
  const answer: Answerer = (_request, response) => void response.setHeader('Content-Type', 'text/plain').end(text);
  const { gateway } = await start(
    t,
    {
      on_http_response: [
        action('compress-response', { algorithms: ['gzip', 'deflate'] }),
        action('add-headers', { headers: { 'x-coding': '${actions.ngrok.compress.negotiated_algorithm}' } }),
      ],
    },
    answer,
  );
  const encoded = await sendRaw(gateway.port, get('/', 'Accept-Encoding: br, gzip'));
  assert.deepEqual([encoded.headers['content-encoding'], encoded.headers['x-coding']], ['gzip', 'gzip']);
  const plain = await over2(gateway.port, '/', { 'accept-encoding': 'br' });
  assert.deepEqual(
    [plain.headers['content-encoding'], plain.headers['vary'], plain.body],
    [undefined, 'Accept-Encoding', text],
  );
  const two = await over2(gateway.port, '/', { 'accept-encoding': 'gzip' });
  assert.equal(gunzipSync(Buffer.from(two.body, 'latin1')).toString(), text);
});

test('very many rules by path are run in order, whatever finds them', async (t) => {
  const note = (mark: string, expressions: readonly string[]) =>
    action('add-headers', { headers: { 'x-rule': mark } }, expressions);
  const many = Array.from({ length: 300 }, (_, at) => note(`exact ${at}`, [`req.url.path == '/p/${at}'`]));
  const prefixes = Array.from({ length: 100 }, (_, at) =>
    note(`prefix ${at}`, [`req.url.path.startsWith("/p/${at}")`]),
  );
  const { upstream, gateway } = await start(
    t,
    onRequest(
      note('first', []),
      ...many,
      note('method', ["req.method == 'GET'"]),
      ...prefixes,
      action('url-rewrite', { from: '^/move/', to: '/p/' }, ["req.url.path.startsWith('/move/')"]),
      note('last', ["req.url.path == '/p/7'"]),
      action('deny', { status_code: 404 }, ["req.url.path == '/p/5'"]),
    ),
  );
  const marks = async (path: string) => {
    const { status } = await sendRaw(gateway.port, get(path));
    if (status !== 200) return status;
    const { headers } = upstream.seen.at(-1)!;
    return headers.filter((_, at) => headers[at - 1] === 'x-rule').join();
  };
  assert.equal(await marks('/p/250'), 'first,exact 250,method,prefix 2,prefix 25');
  assert.equal(await marks('/p/7'), 'first,exact 7,method,prefix 7,last');
  assert.equal(await marks('/other'), 'first,method');
  assert.equal(await marks('/move/7'), 'first,method,last', 'rules behind a rewrite see the new path');
  assert.equal(await marks('/p/5'), 404);
  assert.equal(await marks('/p//5'), 400, 'it can be read as another path');
});
