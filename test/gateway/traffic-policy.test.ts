import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { refusedByPolicy } from '../../src/errors/shared.ts';
import { connectClient, get, openHttp2, requestHttp2, sendRaw } from './support/https-client.ts';
import {
  allowPolicy,
  backendEntry,
  edgeEntry,
  prefixRoute,
  toBackend,
  trafficPolicy,
} from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startRawUpstream, startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

const errorCode = 'gatehouse-error-code';

function edgeWith(document: string | object) {
  return edgeEntry('e', ['app.test'], [prefixRoute('/', { ...toBackend('b'), ...trafficPolicy(document) })]);
}

async function start(t: TestContext, document: string | object) {
  const upstream = await startUpstream();
  t.after(() => upstream[Symbol.asyncDispose]());
  const gateway = await startGateway([backendEntry('b', upstream.port), edgeWith(document)]);
  t.after(() => gateway[Symbol.asyncDispose]());
  return { upstream, gateway };
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

type Ask = (port: number, path: string, headers?: Readonly<Record<string, string>>) => Promise<Answer>;

/** Clients of both versions of HTTP. */
const versions: Readonly<Record<string, Ask>> = {
  'HTTP/1.1': (port, path, headers = {}) =>
    sendRaw(port, get(path, ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`))),
  async 'HTTP/2'(port, path, headers = {}) {
    const session = openHttp2(port);
    session.on('error', () => {});
    try {
      return await requestHttp2(session, { ':path': path, ...headers });
    } finally {
      session.destroy();
    }
  },
};

/** Values of the headers of this name that an upstream has seen. */
function valuesOf(headers: readonly string[] | undefined, name: string): readonly string[] {
  return (headers ?? []).filter((_, at) => at % 2 === 1 && headers?.[at - 1]?.toLowerCase() === name);
}

for (const [version, ask] of Object.entries(versions)) {
  test(`${version}: rules run in order, and each sees what those before it have left`, async (t) => {
    const { upstream, gateway } = await start(t, {
      on_http_request: [
        {
          name: 'first',
          expressions: ["req.url.path.startsWith('/a')", "'x' in req.headers['X-Mode']"],
          actions: [
            {
              type: 'set-vars',
              config: { vars: [{ team: 'red' }, { greeting: "${vars.team + '!'}" }, { list: [1, '${2 + 1}'] }] },
            },
            { type: 'add-headers', config: { headers: { 'X-Team': '${vars.greeting}', 'X-List': 'is ${vars.list}' } } },
            { type: 'remove-headers', config: { headers: ['X-Secret'] } },
          ],
        },
        {
          name: 404,
          expressions: ["'red!' in req.headers['x-team'] && !hasReqHeader('x-secret')"],
          actions: [{ type: 'add-headers', config: { headers: { 'x-second': 'yes' } } }],
        },
      ],
      on_http_response: [
        {
          expressions: ['res.status_code == 200 && !has(vars.team)'],
          actions: [
            {
              type: 'add-headers',
              config: { headers: { 'x-answered': '${res.status_code} ${req.method} ${req.url.path}' } },
            },
            { type: 'remove-headers', config: { headers: ['X-Upstream'] } },
          ],
        },
      ],
    });
    const answer = await ask(gateway.port, '/a/b?c=d', { 'x-mode': 'x', 'x-secret': 's', x_secret: 't' });
    assert.equal(answer.status, 200);
    assert.deepEqual([answer.headers['x-answered'], answer.headers['x-upstream']], ['200 GET /a/b', undefined]);
    const { headers } = upstream.seen.at(-1) ?? {};
    assert.deepEqual(
      ['x-team', 'x-list', 'x-second', 'x-secret', 'x_secret'].map((name) => valuesOf(headers, name)),
      [['red!'], ['is [1,3]'], ['yes'], [], []],
    );
    await ask(gateway.port, '/other', { 'x-mode': 'x', 'x-secret': 's' });
    const { headers: others } = upstream.seen.at(-1) ?? {};
    assert.deepEqual([valuesOf(others, 'x-team'), valuesOf(others, 'x-secret')], [[], ['s']]);
  });

  test(`${version}: a visit is denied, or answered without the upstream, and rules for answers change that answer`, async (t) => {
    const { upstream, gateway } = await start(t, {
      on_http_request: [
        { expressions: ["req.url.path == '/denied'"], actions: [{ type: 'deny', config: { status_code: 418 } }] },
        { expressions: ["req.url.path == '/plain-denied'"], actions: [{ type: 'deny', config: null }] },
        {
          expressions: ["req.url.path == '/json'"],
          actions: [
            {
              type: 'custom-response',
              config: { status_code: 201, body: '{"host": "${req.host}"}', headers: { 'X-Own': 'a' } },
            },
          ],
        },
        { actions: [{ type: 'custom-response', config: { content: 'Hello' } }] },
      ],
      on_http_response: [
        { actions: [{ type: 'add-headers', config: { headers: { 'x-last': '${res.status_code}' } } }] },
      ],
    });
    const denied = await ask(gateway.port, '/denied');
    assert.deepEqual([denied.status, denied.body, denied.headers['content-length']], [418, '', '0']);
    assert.equal((await ask(gateway.port, '/plain-denied')).status, 403);
    assert.deepEqual(
      gateway.answered.map(({ errorCode: code }) => code),
      [refusedByPolicy.code, refusedByPolicy.code],
    );
    assert.match(gateway.reasons[0] ?? '', /traffic policy/);
    const json = await ask(gateway.port, '/json');
    assert.deepEqual(
      [json.status, json.body, json.headers['content-type'], json.headers['x-own'], json.headers['x-last']],
      [201, '{"host": "app.test"}', 'application/json', 'a', '201'],
    );
    const plain = await ask(gateway.port, '/');
    assert.deepEqual([plain.body, plain.headers['content-type']], ['Hello', 'text/plain; charset=utf-8']);
    assert.equal(upstream.seen.length, 0);
  });

  test(`${version}: an answer of the upstream is replaced, with its body`, async (t) => {
    const { upstream, gateway } = await start(t, {
      on_http_response: [
        {
          expressions: ["res.status_code == 200 && req.url.path == '/hide'"],
          actions: [{ type: 'custom-response', config: { status_code: 404, body: 'gone' } }],
        },
        { actions: [{ type: 'add-headers', config: { headers: { 'x-later': 'yes' } } }] },
      ],
    });
    const hidden = await ask(gateway.port, '/hide');
    assert.deepEqual([hidden.status, hidden.body, hidden.headers['x-upstream']], [404, 'gone', undefined]);
    assert.equal(hidden.headers['x-later'], undefined, 'it ends the phase');
    const shown = await ask(gateway.port, '/show');
    assert.deepEqual([shown.status, shown.body, shown.headers['x-later']], [200, 'GET /show ', 'yes']);
    assert.equal(upstream.seen.length, 2);
  });

  test(`${version}: an expression that fails closes what its rule guards, and passes over any other rule`, async (t) => {
    const { gateway } = await start(t, {
      on_http_request: [
        { expressions: ['vars.unset == 1'], actions: [{ type: 'add-headers', config: { headers: { 'x-a': '1' } } }] },
        {
          expressions: ["req.url.path == '/guarded'", 'req.url.port == 5'],
          actions: [{ type: 'deny' }],
        },
        {
          expressions: ["req.url.path == '/login'", "!vars.person.endsWith('@example.com')"],
          actions: [{ type: 'custom-response', config: { status_code: 401 } }],
        },
      ],
    });
    assert.equal((await ask(gateway.port, '/')).status, 200);
    for (const path of ['/guarded', '/login']) {
      const { status, headers } = await ask(gateway.port, path);
      assert.deepEqual([status, headers[errorCode]], [500, 'ERR_GATEHOUSE_2254'], path);
    }
    assert.match(gateway.reasons.at(-1) ?? '', /on_http_request\[2\]\.expressions\[1\]: vars\.person is not there/);
  });

  test(`${version}: a value never breaks out of its header`, async (t) => {
    const { upstream, gateway } = await start(t, {
      on_http_request: [
        {
          expressions: ["hasQueryParam('up')"],
          actions: [{ type: 'add-headers', config: { headers: { 'x-value': "${getQueryParam('up')[0]}" } } }],
        },
        {
          expressions: ["hasQueryParam('own')"],
          actions: [{ type: 'custom-response', config: { headers: { 'x-value': "a${getQueryParam('own')[0]}b" } } }],
        },
      ],
    });
    const hostile = ['%0d%0aX-Evil:%20yes', '%0a', '%0d', '%00', 'a%0d%0a%20folded', '%7f', '%1b'];
    for (const value of hostile)
      for (const name of ['up', 'own']) {
        const { status, headers } = await ask(gateway.port, `/?${name}=${value}`);
        assert.deepEqual(
          [status, headers[errorCode], headers['x-evil']],
          [500, 'ERR_GATEHOUSE_2238', undefined],
          value,
        );
      }
    assert.equal(upstream.seen.length, 0);
    const good = await ask(gateway.port, '/?own=%c3%a9');
    assert.equal(Buffer.from(String(good.headers['x-value']), 'latin1').toString(), 'aéb');
    await ask(gateway.port, '/?up=%20x%09');
    assert.deepEqual(valuesOf(upstream.seen.at(-1)?.headers, 'x-value'), ['x']);
  });

  test(`${version}: an address is let in by ranges and IP policies together`, async (t) => {
    const { gateway } = await start(t, { on_http_request: [] });
    const restrict = (config: object) =>
      gateway.set(edgeWith({ on_http_request: [{ actions: [{ type: 'restrict-ips', config }] }] }));
    await gateway.set(allowPolicy('ipp_1', '127.0.0.0/8'), allowPolicy('ipp_2', '192.0.2.0/24'));
    for (const [config, status] of [
      [{ allow: ['127.0.0.1'] }, 200],
      [{ allow: ['192.0.2.0/24'] }, 403],
      [{ allow: ['127.0.0.0/8'], deny: ['127.0.0.1/32'] }, 403],
      [{ allow: ['127.0.0.0/8'], deny: ['127.0.0.1/32'], enforce: false }, 200],
      [{ ip_policies: ['ipp_1'] }, 200],
      [{ ip_policies: ['ipp_2'] }, 403],
      [{ ip_policies: ['ipp_gone'] }, 403],
      [{ ip_policies: ['ipp_gone'], allow: ['127.0.0.1'] }, 403],
      [{ ip_policies: ['ipp_2'], allow: ['127.0.0.1'] }, 200],
      [{ ip_policies: ['ipp_1'], deny: ['127.0.0.1'] }, 403],
      [{ allow: ["${'127.0.0.1'}/32"] }, 200],
      [{ allow: ['${req.method}'] }, 500],
    ] as const) {
      await restrict(config);
      assert.equal((await ask(gateway.port, '/')).status, status, JSON.stringify(config));
    }
    await restrict({ allow: ['192.0.2.0/24'] });
    assert.equal((await ask(gateway.port, '/')).headers[errorCode], 'ERR_GATEHOUSE_3203');
    const tell = { type: 'custom-response', config: { body: '${actions.ngrok.restrict_ips.error.code}' } };
    const counted = { type: 'restrict-ips', config: { allow: ['192.0.2.0/24'], enforce: false } };
    await gateway.set(edgeWith({ on_http_request: [{ actions: [counted, tell] }] }));
    assert.equal((await ask(gateway.port, '/')).body, 'ERR_NGROK_3203');
  });

  test(`${version}: work of expressions is bounded for the whole visit`, async (t) => {
    const rule = {
      expressions: ['lists.range(20).all(a, lists.range(20).all(b, a + b >= 0))'],
      actions: [{ type: 'set-vars', config: { vars: [{ a: 1 }] } }],
    };
    const { gateway } = await start(t, { on_http_request: Array.from({ length: 100 }, () => rule) });
    const { status, headers } = await ask(gateway.port, '/');
    assert.deepEqual([status, headers[errorCode]], [500, 'ERR_GATEHOUSE_2254']);
    assert.match(gateway.reasons.at(-1) ?? '', /more work than one request may cause/);
  });
}

test('facts of the connection and the endpoint are those of the visit', async (t) => {
  const body = [
    'conn.client_ip',
    'conn.server_ip',
    'conn.tls.version',
    'conn.tls.cipher_suite',
    'conn.tls.sni',
    'conn.tls.negotiated_alpn',
    'conn.tls.session_resumed',
    'endpoint.id',
    'endpoint.url',
    'endpoint.addr',
    'endpoint.protocol',
    'req.version',
    'req.url',
    'req.url.raw',
  ];
  const { gateway } = await start(t, {
    on_http_request: [
      {
        expressions: ['conn.client_port > 0 && conn.server_port > 0 && conn.bytes_in > 0'],
        actions: [
          {
            type: 'custom-response',
            config: { body: body.map((name) => `\${${name}}`).join('|') + '|${timestamp(time.now) >= conn.ts.start}' },
          },
        ],
      },
    ],
  });
  const expected = (alpn: string, version: string) =>
    `127.0.0.1|127.0.0.1|1.3|TLS_AES_128_GCM_SHA256|app.test|${alpn}|false|e|https://app.test|app.test:443|https|${version}|https://app.test/admin?x=%41|https://app.test/%61dmin?x=%41|true`;
  const [first, second] = [versions['HTTP/1.1']!, versions['HTTP/2']!];
  assert.equal((await first(gateway.port, '/%61dmin?x=%41')).body, expected('http/1.1', 'HTTP/1.1'));
  assert.equal((await second(gateway.port, '/%61dmin?x=%41')).body, expected('h2', 'HTTP/2.0'));
});

test('secrets are read when they are used: a new value works at once, and a missing one closes', async (t) => {
  const { gateway } = await start(t, {
    on_http_request: [
      {
        expressions: ["getReqHeader('x-key') != [secrets.get('keys', 'api')]"],
        actions: [{ type: 'deny' }],
      },
    ],
  });
  const ask = versions['HTTP/1.1']!;
  const secret = (value: string) =>
    ({ kind: 'vault_secret', id: 'secret_1', vaultId: 'vault_1', name: 'api', value }) as const;
  const vault = (accountId: string) => ({ kind: 'vault', id: 'vault_1', accountId, name: 'keys' }) as const;
  const statusWith = async (key: string) => (await ask(gateway.port, '/', { 'x-key': key })).status;
  assert.equal(await statusWith(''), 500);
  await gateway.set(vault('acc_2'), secret('first'));
  assert.equal(await statusWith('first'), 500, 'a vault of another account');
  await gateway.set(vault('acc_1'));
  assert.deepEqual([await statusWith('first'), await statusWith('second')], [200, 403]);
  await gateway.set(secret('second'));
  assert.deepEqual([await statusWith('first'), await statusWith('second')], [403, 200]);
  await gateway.set({ ...secret(''), fault: 'it does not open' });
  assert.equal(await statusWith(''), 500);
  await gateway.set(secret('second'));
  await gateway.remove({ kind: 'vault_secret', id: 'secret_1' });
  assert.equal(await statusWith('second'), 500);
});

test('a policy that cannot be read closes its edge', async (t) => {
  const { gateway } = await start(t, { on_http_request: [{ actions: [{ type: 'of-another-release' }] }] });
  const { status, headers } = await sendRaw(gateway.port, get('/'));
  assert.deepEqual([status, headers[errorCode]], [503, 'ERR_GATEHOUSE_20077']);
});

test('an upgraded connection ends when the address is refused that a policy has let in', async (t) => {
  const upstream = await startRawUpstream((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nup');
  });
  t.after(() => upstream[Symbol.asyncDispose]());
  const document = { on_http_request: [{ actions: [{ type: 'restrict-ips', config: { ip_policies: ['ipp_1'] } }] }] };
  // Nothing ends it but the rules.
  const settings = { timeouts: { idleMs: 86_400_000 } };
  const gateway = await startGateway(
    [backendEntry('b', upstream.port), allowPolicy('ipp_1', '127.0.0.0/8'), edgeWith(document)],
    settings,
  );
  t.after(() => gateway[Symbol.asyncDispose]());
  const client = await connectClient(gateway.port);
  let text = '';
  client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).on('error', () => {});
  client.write('GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n');
  await until(() => text.endsWith('up'), 'the upgrade');
  await gateway.set(allowPolicy('ipp_1', '127.0.0.0/8', '192.0.2.0/24'));
  assert.equal(client.destroyed, false);
  await gateway.set(allowPolicy('ipp_1', '192.0.2.0/24'));
  if (!client.destroyed) await once(client, 'close');
});

test('an upgraded connection ends with the secret that let it in, and with rules that could refuse it', async (t) => {
  const upstream = await startRawUpstream((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nup');
  });
  t.after(() => upstream[Symbol.asyncDispose]());
  const config = { credentials: ["ada:${secrets.get('v', 's')}"] };
  const asks = { actions: [{ type: 'basic-auth', config }] };
  const secret = { kind: 'vault_secret', id: 'secret_1', vaultId: 'vault_1', name: 's', value: 'long enough' } as const;
  const gateway = await startGateway([
    backendEntry('b', upstream.port),
    { kind: 'vault', id: 'vault_1', accountId: 'acc_1', name: 'v' },
    secret,
    edgeWith({ on_http_request: [asks] }),
  ]);
  t.after(() => gateway[Symbol.asyncDispose]());
  const upgrade = async () => {
    const client = await connectClient(gateway.port);
    let text = '';
    client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).on('error', () => {});
    const credentials = Buffer.from('ada:long enough').toString('base64');
    client.write(
      `GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\nAuthorization: Basic ${credentials}\r\n\r\n`,
    );
    await until(() => text.endsWith('up'), 'the upgrade');
    return client;
  };
  const ends = async (client: Awaited<ReturnType<typeof upgrade>>) => {
    if (!client.destroyed) await once(client, 'close');
  };
  const first = await upgrade();
  await gateway.set({ ...secret, value: 'another one' });
  await ends(first);
  await gateway.set(secret);
  const second = await upgrade();
  await gateway.set(edgeWith({ on_http_request: [asks] }));
  const note = { actions: [{ type: 'log', config: { metadata: {} } }] };
  await gateway.set(edgeWith({ on_http_request: [note] }));
  assert.equal(second.destroyed, false, 'nothing has changed, or could refuse it');
  await gateway.set(
    edgeWith({ on_http_request: [{ expressions: ["req.method == 'GET'"], actions: [{ type: 'deny' }] }] }),
  );
  await ends(second);
});

test('a page that visitors fill in is no page of the host', async (t) => {
  const body = (text: string) => ({
    on_http_request: [{ actions: [{ type: 'custom-response', config: { body: text } }] }],
  });
  const { gateway } = await start(t, body("${getQueryParam('name')[0]} is not known"));
  const typeOf = async () =>
    (await sendRaw(gateway.port, get('/?name=%3Chtml%3E%3Cscript%3E'))).headers['content-type'];
  assert.equal(await typeOf(), 'text/plain; charset=utf-8');
  await gateway.set(edgeWith(body("<p>Good day, ${getQueryParam('x').size()}</p>")));
  assert.equal(await typeOf(), 'text/html; charset=utf-8');
});

test('the answer to an expression that fails does not show the values that it had', async (t) => {
  const { gateway } = await start(t, {
    on_http_request: [{ expressions: ["int(secrets.get('v', 's')) > 1"], actions: [{ type: 'deny' }] }],
  });
  await gateway.set(
    { kind: 'vault', id: 'vault_1', accountId: 'acc_1', name: 'v' },
    { kind: 'vault_secret', id: 'secret_1', vaultId: 'vault_1', name: 's', value: 'long enough' },
  );
  for (const expression of [
    "int(secrets.get('v', 's')) > 1",
    "double(secrets.get('v', 's')) > 1.0",
    "bool(secrets.get('v', 's'))",
    "timestamp(secrets.get('v', 's')) > timestamp(0)",
    "duration(secrets.get('v', 's')) > duration('1s')",
    "timestamp(0).getHours(secrets.get('v', 's')) > 1",
  ]) {
    await gateway.set(edgeWith({ on_http_request: [{ expressions: [expression], actions: [{ type: 'deny' }] }] }));
    const { status, body } = await sendRaw(gateway.port, get('/'));
    assert.deepEqual([status, body.includes('long enough')], [500, false], expression);
  }
});
