import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { TLSSocket } from 'node:tls';

import type { InternalEndpointEntry, ModuleSettings, SnapshotEntry } from '../../src/snapshot/contract.ts';
import { useRequestHosts } from '../../src/modules/request-hosts.ts';
import { trafficPolicy as module } from '../../src/modules/traffic-policy/index.ts';
import { connectClient, get, openHttp2, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend, trafficPolicy } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { startRawUpstream, startUpstream } from './support/https-upstream.ts';
import type { TestUpstream } from './support/https-upstream.ts';
import { documentedPolicy, policyOf, refusalOf, startWithPolicy, vaultWith } from './support/policies.ts';

const errorCode = 'gatehouse-error-code';
const ofVault = "${secrets.get('keys', 'token')}";

function internal(url: string, modules: ModuleSettings, id = url, accountId = 'acc_1'): InternalEndpointEntry {
  return { kind: 'internal_endpoint', id, accountId, url, modules };
}

/** A program behind an internal endpoint that answers as it is told. */
async function startAsked(
  t: TestContext,
  answer: Parameters<typeof startUpstream>[0],
): Promise<{ asked: TestUpstream; entries: readonly SnapshotEntry[] }> {
  const asked = await startUpstream(answer);
  t.after(() => asked[Symbol.asyncDispose]());
  return { asked, entries: [backendEntry('asked', asked.port), internal('https://auth.internal', toBackend('asked'))] };
}

const call = (config: object, phase?: string) =>
  policyOf('http-request', { url: 'https://auth.internal/check', ...config }, phase);
const telling = (config: object, value: string) => ({
  on_http_request: [
    {
      actions: [
        { type: 'http-request', config: { url: 'https://auth.internal/check', timeout: '30s', ...config } },
        { type: 'custom-response', config: { body: value } },
      ],
    },
  ],
});

test('the documented policy asks an internal endpoint, and lets in whom that allows, in both versions of HTTP', async (t) => {
  const { asked, entries } = await startAsked(t, (request, response) => {
    const isKnown = request.headers['authorization'] === 'Bearer a secret' && request.url === '/check?path=%2Fopen';
    response.writeHead(isKnown ? 200 : 403, { 'x-person': 'ada' }).end('{"name": "Ada"}');
  });
  const text = documentedPolicy('http-request')
    .replace("'web'", "'keys'")
    .replace('"on_error"', '"timeout": "30s", $&');
  const { upstream, gateway } = await startWithPolicy(t, text, [...entries, ...vaultWith('token', 'a secret')]);
  assert.equal((await sendRaw(gateway.port, get('/open'))).status, 200);
  assert.equal((await sendRaw(gateway.port, get('/closed'))).status, 403);
  const session = openHttp2(gateway.port);
  assert.equal((await requestHttp2(session, { ':path': '/open' })).status, 200);
  session.destroy();
  assert.equal(upstream.seen.length, 2);
  for (const { headers } of upstream.seen) assert.equal(headers[headers.indexOf('x-name') + 1], 'Ada');
  const [first] = asked.seen;
  const headers = first?.headers ?? [];
  const lower = headers.map((each) => each.toLowerCase());
  assert.deepEqual([first?.method, headers[lower.indexOf('host') + 1]], ['GET', 'auth.internal']);
  assert.equal(headers[lower.indexOf('x-forwarded-for') + 1], '127.0.0.1');
});

test('later expressions read the request, the answer and the attempts', async (t) => {
  let count = 0;
  const { asked, entries } = await startAsked(t, (_, response) => {
    count += 1;
    response.writeHead(count < 3 ? 503 : 201, { 'x-a': String(count) }).end(`answer ${count}`);
  });
  const r = 'actions.ngrok.http_request';
  const document = telling(
    {
      method: 'POST',
      body: 'from ${req.host}',
      headers: { 'x-key': '${conn.client_ip}' },
      retry_condition: 'attempts < 5 && last_attempt.res.status_code >= 500',
    },
    `\${${r}.res.status_code} \${${r}.res.header['x-a'][0]} \${${r}.res.body} \${${r}.req.method} \${${r}.req.body} \${${r}.attempts.size()} \${${r}.attempts[0].response_status_code}`,
  );
  const { gateway } = await startWithPolicy(t, document, entries);
  const { body } = await sendRaw(gateway.port, get('/'));
  assert.equal(body, '201 3 answer 3 POST from app.test 3 503');
  assert.deepEqual(
    asked.seen.map((each) => each.body),
    Array(3).fill('from app.test'),
  );
  // Three more attempts at most.
  count = -100;
  await sendRaw(gateway.port, get('/'));
  assert.equal(asked.seen.length, 3 + 4);
});

test('without an answer in time, or with one too long, the policy goes on or ends as it says', async (t) => {
  const { entries } = await startAsked(t, (request, response) => {
    if (request.url === '/long') response.end('x'.repeat(262_145));
    else if (request.url === '/most') response.end('x'.repeat(262_144));
  });
  const code = '${actions.ngrok.http_request.error.code}';
  const { gateway, setPolicy } = await startWithPolicy(t, telling({ timeout: '1s' }, code), entries);
  assert.equal((await sendRaw(gateway.port, get('/'))).body, 'ERR_NGROK_3602');
  await setPolicy(telling({ url: 'https://auth.internal/long' }, code));
  assert.equal((await sendRaw(gateway.port, get('/'))).body, 'ERR_NGROK_3601');
  await setPolicy(telling({ url: 'https://auth.internal/most' }, '${actions.ngrok.http_request.res.body.size()}'));
  assert.equal((await sendRaw(gateway.port, get('/'))).body, '262144');
  await setPolicy(telling({ url: 'https://auth.internal/long', on_error: 'halt' }, code));
  const halted = await sendRaw(gateway.port, get('/'));
  assert.deepEqual([halted.status, halted.headers[errorCode]], [500, 'ERR_GATEHOUSE_2238']);
  await setPolicy(telling({ url: 'https://gone.internal' }, '${actions.ngrok.http_request.res.status_code}'));
  assert.equal((await sendRaw(gateway.port, get('/'))).body, '503');
});

test('what visitors send chooses no other host and no other path', async (t) => {
  const { asked, entries } = await startAsked(t, (request, response) => response.end(request.url));
  const body = '${actions.ngrok.http_request.res.body}';
  const { gateway, setPolicy } = await startWithPolicy(
    t,
    telling({ url: "https://${req.headers['x-tenant'][0]}.internal/check" }, body),
    entries,
  );
  const from = (name: string, value: string) => sendRaw(gateway.port, get('/', `${name}: ${value}`));
  assert.equal((await from('X-Tenant', 'auth')).body, '/check');
  for (const value of ['auth.internal/delete?id=7#', 'auth.internal/delete/', 'x@auth', 'auth:80', 'auth.internal\\']) {
    assert.equal((await from('X-Tenant', value)).status, 500, value);
  }
  await setPolicy(telling({ url: "https://auth.internal/users/${req.headers['x-id'][0]}/check" }, body));
  assert.equal((await from('X-Id', '7')).body, '/users/7/check');
  for (const value of ['../admin?', '7#', '%2e%2e/admin', '..', '7/../../admin'])
    assert.equal((await from('X-Id', value)).status, 500, value);
  await setPolicy(telling({ url: 'https://auth.internal${req.url.path}' }, body));
  assert.equal((await sendRaw(gateway.port, get('/a/b'))).body, '/a/b');
  assert.deepEqual(
    asked.seen.map(({ url }) => url),
    ['/check', '/users/7/check', '/a/b'],
  );
});

test('a value behind a host is its path, for internal endpoints and for servers that the operator has named', async (t) => {
  const { asked, entries } = await startAsked(t, (request, response) => response.end(request.url));
  const server = `localhost:${asked.port}`;
  using _ = useRequestHosts([server, 'localhost', `*.localhost:${asked.port}`]);
  const { gateway, setPolicy } = await startWithPolicy(t, telling({}, ''), entries);
  const told = async (url: string, value: string) => {
    const expression = "${getQueryParam('v')[0]}";
    await setPolicy(
      telling({ url: url.replaceAll(/[$](?![{])/g, () => expression) }, '${actions.ngrok.http_request.res.body}'),
    );
    const { status, body } = await sendRaw(gateway.port, get(`/?v=${encodeURIComponent(value)}`));
    return `${status} ${body}`;
  };
  const answer = async (url: string, value: string) => {
    const text = await told(url, value);
    return text.startsWith('200 ') ? text.slice(4) : Number(text.slice(0, 3));
  };
  for (const host of ['https://auth.internal', 'https://auth.internal:443', `http://${server}`]) {
    assert.equal(await answer(`${host}$`, '/a/b'), '/a/b', host);
    assert.equal(await answer(`${host}$`, '/a?b=c'), '/a?b=c', host);
    assert.equal(await answer(`${host}$`, '?b=c'), '/?b=c', host);
    assert.equal(await answer(`${host}$`, ''), '/', host);
    assert.equal(await answer(`${host}$`, '/a"<ü'), '/a%22%3C%C3%BC', host);
    assert.equal(await answer(`${host}$/more`, '/a'), '/a/more', host);
    assert.equal(await answer(`${host}$/more`, ''), '/more', host);
    assert.equal(await answer(`${host}$$`, '/a'), '/a/a', host);
    assert.equal(await answer(`${host}$.json`, '/a'), '/a.json', host);
    assert.equal(await answer(`${host}/x/$/y`, '7'), '/x/7/y', host);
    const seen = asked.seen.length;
    for (const value of [
      '.internal',
      'x.localhost',
      ':1',
      '@other.internal',
      '1',
      '/../x',
      '/%2e%2e/x',
      '/a#',
      '\\x',
      '/\\x',
    ])
      assert.equal(await answer(`${host}$`, value), 500, `${host} ${value}`);
    assert.equal(await answer(`${host}$.internal/`, ''), 500, host);
    assert.equal(await answer(`${host}$.localhost:${asked.port}/`, ''), 500, host);
    // Whatever is written behind a value stays in the path.
    for (const value of ['7?', '7/z?x=']) assert.equal(await answer(`${host}/x/$/y`, value), 500, `${host} ${value}`);
    assert.equal(await answer(`${host}$/y`, '/admin?'), 500, host);
    assert.equal(asked.seen.length, seen, host);
  }
  assert.equal(await answer(`http://${server}$`, '//other.internal/x'), '//other.internal/x');
  assert.equal(await answer(`http://$:${asked.port}/x`, 'localhost'), '/x');
  assert.equal(await answer('http://localhost:$/x', String(asked.port)), '/x');
  assert.equal(await answer("https://${'auth.internal'}$.localhost/", '/x'), 500);
  assert.match(await told('https://b.test$', '/x'), /the operator has not named/);
  assert.equal(await answer('http://$/x', `${'a'.repeat(301)}.internal`), 500);
  for (const value of ['localhost/y?', 'x.internal/y?', 'auth.internal#'])
    assert.equal(await answer(`http://$:${asked.port}/x`, value), 500, value);
});

test('a host that is written out must be one that is asked, whatever the path is made of', () => {
  using _ = useRequestHosts(['a.test']);
  for (const url of [
    'https://b.test${req.url.path}',
    'https://b.test/${req.url.path}',
    'https://a.test:8443${req.url.path}',
    'https://b.test${req.url.path}/x',
    'https://b.test?a=${req.url.path}',
    'https://u:p@a.test/${req.url.path}',
    'tcp://a.test/${req.url.path}',
  ])
    assert.match(refusalOf(call({ url })), /^2226 .*config\.url/, url);
  for (const url of [
    'https://a.test${req.url.path}',
    'https://a.test/${req.url.path}',
    'https://a.test?a=${req.url.path}',
    'https://x.internal${req.url.path}',
    'https://api${vars.zone}.internal/',
    'https://${vars.host}/',
    '${vars.url}',
    'https://api.${vars.zone}',
    'https://api${vars.end}',
  ])
    module.checkWritten?.(module.accept({ value: JSON.stringify(call({ url })) }), 'https_route');
});

test('a connection that breaks is an error, and no answer with a status', async (t) => {
  const { asked, entries } = await startAsked(t, (request, response) => {
    if (request.url === '/cut') response.write('some', () => response.destroy());
    else if (request.url === '/status') response.writeHead(502).end('its own');
    else response.destroy();
  });
  const server = `localhost:${asked.port}`;
  using _ = useRequestHosts([server, 'localhost:1']);
  const result = 'actions.ngrok.http_request';
  const document = (url: string, more: object = {}) =>
    telling(
      { url, retry_condition: 'attempts < 2 && last_attempt.error.code.startsWith("ERR_")', ...more },
      `\${${result}.error.code} \${has(${result}.res)} \${${result}.attempts.size()}`,
    );
  const away = [backendEntry('away', 1), internal('https://away.internal', toBackend('away'))];
  const { gateway, setPolicy } = await startWithPolicy(t, document('https://auth.internal/'), [...entries, ...away]);
  for (const url of [
    'https://auth.internal/',
    'https://auth.internal/cut',
    `http://${server}/`,
    `http://${server}/cut`,
  ]) {
    const before = asked.seen.length;
    await setPolicy(document(url));
    assert.match((await sendRaw(gateway.port, get('/'))).body, /^ERR_NGROK_20\d+ false 0$/, url);
    assert.ok(asked.seen.length - before >= 2, url);
    await setPolicy(document(url, { on_error: 'halt' }));
    const halted = await sendRaw(gateway.port, get('/'));
    assert.deepEqual([halted.status, halted.headers[errorCode]], [500, 'ERR_GATEHOUSE_2238'], url);
    assert.match(halted.body, /ended before the answer was complete/, url);
  }
  for (const url of ['https://away.internal/', 'http://localhost:1/']) {
    await setPolicy(document(url));
    assert.match((await sendRaw(gateway.port, get('/'))).body, /^ERR_NGROK_20\d+ false 0$/, url);
  }
  // What answers with a status of its own has answered.
  for (const url of ['https://auth.internal/status', `http://${server}/status`]) {
    await setPolicy(telling({ url }, `\${${result}.res.status_code} \${${result}.res.body}`));
    assert.equal((await sendRaw(gateway.port, get('/'))).body, '502 its own', url);
  }
});

test('each visit asks twenty times, and a policy that would always ask more is refused', async (t) => {
  const { asked, entries } = await startAsked(t, (_, response) => response.end());
  const document = (count: number, expressions: readonly string[], phase = 'on_http_request') => ({
    [phase]: [
      {
        expressions,
        actions: Array.from({ length: count }, () => ({
          type: 'http-request',
          config: { url: 'https://auth.internal/' },
        })),
      },
      {
        actions: [
          {
            type: 'custom-response',
            config: {
              body: '${has(actions.ngrok.http_request.error) ? actions.ngrok.http_request.error.code : "all"}',
            },
          },
        ],
      },
    ],
  });
  const { gateway, setPolicy } = await startWithPolicy(t, document(9, []), entries);
  for (const phase of ['on_http_request', 'on_http_response']) {
    for (const count of [9, 20]) {
      const before = asked.seen.length;
      await setPolicy(document(count, [], phase));
      assert.equal((await sendRaw(gateway.port, get('/'))).body, 'all', `${phase} ${count}`);
      assert.equal(asked.seen.length - before, count, phase);
    }
    const before = asked.seen.length;
    await setPolicy(document(100, ['true'], phase));
    assert.equal((await sendRaw(gateway.port, get('/'))).body, 'ERR_NGROK_20390', phase);
    assert.equal(asked.seen.length - before, 20, phase);
    const [first, second] = [refusalOf(document(21, [], phase)), refusalOf(document(100, [], phase))];
    assert.match(
      first,
      new RegExp(`^2204 .*${phase}\\[0\\]\\.actions\\[20\\] .* 21 actions http-request, of which 20`),
    );
    assert.match(second, / 100 actions http-request/);
  }
});

test('an answer that does not end is cut off, and is an error', async (t) => {
  let ended = 0;
  const { asked, entries } = await startAsked(t, ({ url }, response) => {
    if (url !== '/whole') response.on('close', () => (ended += 1));
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write('data: one\n\n');
    if (url === '/whole') setImmediate(() => response.end('data: two\n\n'));
  });
  const server = `localhost:${asked.port}`;
  using _ = useRequestHosts([server]);
  const told = '${actions.ngrok.http_request.error.code} ${has(actions.ngrok.http_request.res)}';
  const { gateway, setPolicy } = await startWithPolicy(t, telling({}, told), entries, {
    timeouts: { idleMs: 86_400_000 },
  });
  for (const [at, url] of ['https://auth.internal/', `http://${server}/`].entries()) {
    await setPolicy(telling({ url, timeout: '1s' }, told));
    assert.equal((await sendRaw(gateway.port, get('/'))).body, 'ERR_NGROK_3602 false', url);
    await until(() => ended === at + 1, 'the connection to it is closed');
    await setPolicy(telling({ url: `${url}whole` }, '${actions.ngrok.http_request.res.body}'));
    assert.equal((await sendRaw(gateway.port, get('/'))).body, 'data: one\n\ndata: two\n\n', url);
  }
});

test('requests for visitors of a proxy that names no client do not count as those of one', async (t) => {
  const waiting: (() => void)[] = [];
  const { entries } = await startAsked(t, (_, response) => {
    waiting.push(() => response.end('answered'));
    if (waiting.length === 3) for (const answer of waiting) answer();
  });
  const settings = { trustedProxies: ['127.0.0.1/32'], bounds: { backendSourceConnections: 1, backendSourceQueue: 0 } };
  const document = telling({ timeout: '30s' }, '${actions.ngrok.http_request.res.body}');
  const { gateway } = await startWithPolicy(t, document, entries, settings);
  const answers = await Promise.all(Array.from({ length: 3 }, () => sendRaw(gateway.port, get('/'))));
  assert.deepEqual(
    answers.map(({ body }) => body),
    ['answered', 'answered', 'answered'],
  );
});

test('a request that cannot be made is an error, with which the policy goes on or ends as it says', async (t) => {
  const { asked, entries } = await startAsked(t, (_, response) => response.end());
  const value = "${getQueryParam('v')[0]}";
  const told = '${actions.ngrok.http_request.error.code}: ${actions.ngrok.http_request.error.message}';
  const { gateway, setPolicy } = await startWithPolicy(t, telling({}, told), entries);
  const ask = (v: string) => sendRaw(gateway.port, get(`/?v=${encodeURIComponent(v)}`));
  for (const [config, v, reason] of [
    [{ url: `https://auth.internal/${value}/x` }, '..', /lead elsewhere/],
    [{ url: value }, 'nowhere', /a whole URL/],
    [{ url: value }, 'https://u:p@auth.internal/', /stand in a header/],
    [{ url: value }, `https://auth.internal/${'a'.repeat(7_000)}`, undefined],
    [{ headers: { 'x-a': `a${value}` } }, 'b\r\nc: d', /x-a cannot be sent/],
  ] as const) {
    const before = asked.seen.length;
    await setPolicy(telling(config, told));
    const went = await ask(v);
    if (reason === undefined) {
      assert.equal(asked.seen.length, before + 1);
      continue;
    }
    assert.match(went.body, /^ERR_NGROK_20\d+: /, v);
    assert.match(went.body, reason, v);
    await setPolicy(telling({ ...config, on_error: 'halt' }, told));
    const halted = await ask(v);
    assert.deepEqual([halted.status, halted.headers[errorCode]], [500, 'ERR_GATEHOUSE_2238'], v);
    assert.match(halted.body, reason, v);
    assert.equal(asked.seen.length, before, v);
  }
  // A value that is missing closes, and so does a server that is not named.
  for (const url of [`https://auth.internal/${ofVault}`, "${'https://other.test/'}"]) {
    await setPolicy(telling({ url }, 'went on'));
    assert.equal((await ask('x')).status, 500, url);
  }
});

const askedFor = (path: string, url: string) => ({
  on_http_request: [
    {
      expressions: [`req.url.path == '${path}'`],
      actions: [{ type: 'http-request', config: { url, timeout: '30s', retry_condition: 'true' } }],
    },
  ],
});

/** A program that never answers. */
async function startSilent(t: TestContext) {
  const seen = { ended: 0 };
  const started = await startAsked(t, (_, response) => void response.on('close', () => (seen.ended += 1)));
  return { ...started, seen };
}

/** Leaves while the request of a rule is under way: it has ended when others who came later have been served. */
async function leave(port: number, asked: TestUpstream, seen: { readonly ended: number }): Promise<void> {
  const leaving = await connectClient(port);
  leaving.write(get('/leaves'));
  await until(() => asked.seen.length === 1, 'it is asked');
  assert.equal(seen.ended, 0);
  leaving.destroy();
  for (let later = 0; later < 10; later++) assert.equal((await sendRaw(port, get('/stays'))).status, 200);
  assert.deepEqual([asked.seen.length, seen.ended], [1, 1]);
}

test('a request for a visitor who has left ends, and is not made again', async (t) => {
  const { asked, entries, seen } = await startSilent(t);
  const { gateway } = await startWithPolicy(t, askedFor('/leaves', 'https://auth.internal/check'), entries);
  await leave(gateway.port, asked, seen);
});

test('an answer is changed by what another endpoint says', async (t) => {
  const { entries } = await startAsked(t, (_, response) => response.end('gold'));
  const document = {
    on_http_response: [
      {
        actions: [
          { type: 'http-request', config: { url: 'https://auth.internal/', timeout: '30s' } },
          { type: 'add-headers', config: { headers: { 'x-plan': '${actions.ngrok.http_request.res.body}' } } },
        ],
      },
    ],
  };
  const { gateway } = await startWithPolicy(t, document, entries);
  const answer = await sendRaw(gateway.port, get('/'));
  assert.deepEqual([answer.status, answer.headers['x-plan']], [200, 'gold']);
});

test('the endpoint that is asked obeys its own rules, and nobody comes to that of another account', async (t) => {
  const { asked, entries } = await startAsked(t, (_, response) => response.end('in'));
  const deny = {
    on_http_request: [
      { expressions: ["req.method != 'GET'"], actions: [{ type: 'deny', config: { status_code: 418 } }] },
    ],
  };
  const more = [
    internal('https://guarded.internal', { ...toBackend('asked'), ...trafficPolicy(deny) }),
    internal('https://foreign.internal', toBackend('asked'), 'foreign', 'acc_2'),
  ];
  const status = '${actions.ngrok.http_request.res.status_code}';
  const { gateway, setPolicy } = await startWithPolicy(
    t,
    telling({ url: 'https://guarded.internal/', method: 'PUT' }, status),
    [...entries, ...more],
  );
  assert.equal((await sendRaw(gateway.port, get('/'))).body, '418');
  await setPolicy(telling({ url: 'https://foreign.internal/' }, status));
  assert.equal((await sendRaw(gateway.port, get('/'))).body, '503');
  assert.equal(asked.seen.length, 0);
  for (const host of ['127.0.0.1', 'auth.internal.example.com', 'localhost', 'auth.internal@127.0.0.1']) {
    await setPolicy(telling({ url: '${getQueryParam("u")[0]}', on_error: 'continue' }, status));
    const hostile = await sendRaw(gateway.port, get(`/?u=https://${host}/`));
    assert.deepEqual([hostile.status, hostile.headers[errorCode]], [500, 'ERR_GATEHOUSE_2238'], host);
  }
  assert.equal(asked.seen.length, 0);
});

test('requests that lead to one another end', async (t) => {
  const { asked, entries } = await startAsked(t, (_, response) => response.end('end'));
  const loop = policyOf('http-request', { url: 'https://loop.internal/', timeout: '30s' });
  const counting = {
    on_http_request: [
      {
        actions: Array.from({ length: 6 }, () => ({
          type: 'http-request',
          config: { url: 'https://auth.internal/', timeout: '30s' },
        })),
      },
    ],
  };
  const fan = {
    on_http_request: [
      {
        actions: Array.from({ length: 4 }, () => ({
          type: 'http-request',
          config: { url: 'https://wide.internal/', timeout: '30s' },
        })),
      },
    ],
  };
  const more = [
    internal('https://loop.internal', { ...toBackend('asked'), ...trafficPolicy(loop) }),
    internal('https://wide.internal', { ...toBackend('asked'), ...trafficPolicy(counting) }),
  ];
  const { gateway, setPolicy } = await startWithPolicy(t, loop, [...entries, ...more]);
  assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
  assert.equal(asked.seen.length, 3);
  await setPolicy(fan);
  assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
  assert.equal(asked.seen.length - 3, 20, 'of 28');
});

test('servers outside are asked where the operator has named them, and no others', async (t) => {
  const { asked } = await startAsked(t, (request, response) => {
    if (request.url === '/long') response.end('x'.repeat(262_145));
    else if (request.url === '/broken') response.destroy();
    else response.writeHead(201, { 'x-a': 'b' }).end(`${request.method} ${String(request.headers['x-key'])}`);
  });
  const server = `localhost:${asked.port}`;
  using _ = useRequestHosts([server, 'api.example.com', '*.example.org:8080']);
  const result = 'actions.ngrok.http_request';
  const document = telling(
    {
      url: `http://${server}/check`,
      method: 'POST',
      headers: { 'x-key': ofVault },
      body: 'sent',
      query_params: [{ key: 'a', value: '${req.host}' }],
    },
    `\${${result}.res.status_code} \${${result}.res.header['x-a'][0]} \${${result}.res.body}`,
  );
  const { gateway, setPolicy } = await startWithPolicy(t, document, vaultWith('token', 'a secret'));
  assert.equal((await sendRaw(gateway.port, get('/'))).body, '201 b POST a secret');
  const [seen] = asked.seen;
  assert.deepEqual([seen?.url, seen?.body], ['/check?a=app.test', 'sent']);
  const names = seen?.headers.map((each) => each.toLowerCase()) ?? [];
  assert.ok(names.includes(server) && !names.includes('x-forwarded-for'));
  await setPolicy(telling({ url: `http://${server}/long` }, `\${${result}.error.code}`));
  assert.equal((await sendRaw(gateway.port, get('/'))).body, 'ERR_NGROK_3601');
  // Whoever fills in a host comes to those that are named alone.
  const filled = telling({ url: '${getQueryParam("u")[0]}' }, `\${${result}.res.status_code}`);
  await setPolicy(filled);
  const to = async (url: string) => (await sendRaw(gateway.port, get(`/?u=${encodeURIComponent(url)}`))).status;
  assert.equal(await to(`http://${server}/`), 200);
  for (const url of [
    `http://127.0.0.1:${asked.port}/`,
    `http://${server}@127.0.0.1/`,
    'http://localhost/',
    `http://x.${server}/`,
  ])
    assert.equal(await to(url), 500, url);
  const refusal = (url: string) => refusalOf(call({ url }));
  for (const url of [
    'https://api.example.com:8443/',
    'https://example.org:8080/',
    'https://a.example.org/',
    'https://*.example.org:8080/',
  ])
    assert.match(refusal(url), /^2226 /, url);
  for (const url of ['https://api.example.com/', 'http://api.example.com:80/', 'https://a.b.example.org:8080/x'])
    module.accept({ value: JSON.stringify(call({ url })) });
});

test('a server is named with its port or without one, whichever way its URL is written', () => {
  const isTaken = (named: string, url: string) => {
    using _ = useRequestHosts([named]);
    const settings = module.accept({ value: JSON.stringify(call({ url })) });
    try {
      module.checkWritten?.(settings, 'https_route');
      return true;
    } catch {
      return false;
    }
  };
  for (const [named, urls] of [
    [
      'a.test',
      ['https://a.test/', 'https://a.test:443/', 'http://a.test/', 'https://A.test:80/', 'http://a.test:443/'],
    ],
    ['a.test:443', ['https://a.test/', 'https://a.test:443/', 'http://a.test:443/']],
    ['a.test:80', ['http://a.test/', 'http://a.test:80/', 'https://a.test:80/']],
    ['a.test:8443', ['https://a.test:8443/', 'http://a.test:8443/']],
    ['*.a.test', ['https://b.a.test/', 'http://c.b.a.test/']],
    ['*.a.test:443', ['https://b.a.test/', 'https://b.a.test:443']],
  ] as const)
    for (const url of urls) assert.ok(isTaken(named, url), `${named} ${url}`);
  for (const [named, urls] of [
    [
      'a.test',
      ['https://a.test:8443/', 'https://b.a.test/', 'https://ba.test/', 'https://a.test.b/', 'https://a.test./'],
    ],
    ['a.test:443', ['http://a.test/', 'https://a.test:80/', 'https://a.test:4433/']],
    ['a.test:80', ['https://a.test/', 'http://a.test:8080/']],
    ['a.test:8443', ['https://a.test/', 'http://a.test/', 'https://a.test:84433/', 'https://a.test:844/']],
    ['*.a.test', ['https://a.test/', 'https://ba.test/', 'https://b.a.test:8443/', 'https://b.a.test.c/']],
    ['*.a.test:443', ['http://b.a.test/', 'https://a.test/']],
  ] as const)
    for (const url of urls) if (URL.canParse(url)) assert.ok(!isTaken(named, url), `${named} ${url}`);
});

test('answers count for their account as long as the requests that wait behind them, and one without room is an error', async (t) => {
  const { entries } = await startAsked(t, (_, response) => {
    response.end('x'.repeat(131_072));
  });
  const held = new Set<Socket>();
  const behind = await startRawUpstream((socket, text) => {
    if (text.includes('/last')) {
      const told = /^x-error: (.*)$/im.exec(text)?.[1] ?? '';
      socket.end(`HTTP/1.1 200 OK\r\nContent-Length: ${told.length}\r\nConnection: close\r\n\r\n${told}`);
      return;
    }
    held.add(socket);
    // Half of them wait for an answer, and half have one that lasts as long as they do.
    if (text.includes('upgrade')) socket.write('HTTP/1.1 101 Go\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n');
  });
  t.after(() => behind[Symbol.asyncDispose]());
  const error = "${has(actions.ngrok.http_request.error) ? actions.ngrok.http_request.error.code : 'none'}";
  const body = 'y'.repeat(131_072);
  const policy = {
    on_http_request: [
      {
        actions: [
          { type: 'http-request', config: { url: 'https://auth.internal/', method: 'POST', body } },
          { type: 'add-headers', config: { headers: { 'x-error': error } } },
        ],
      },
    ],
  };
  const edgeOf = (name: string) =>
    edgeEntry(name, [`${name}.test`], [prefixRoute('/', { ...toBackend('behind'), ...trafficPolicy(policy) })], name);
  const gateway = await startGateway(
    [
      ...entries,
      ...['one', 'two'].map((account) => internal('https://auth.internal', toBackend('asked'), account, account)),
      backendEntry('behind', behind.port),
      ...['one', 'two'].map(edgeOf),
    ],
    { timeouts: { idleMs: 86_400_000 } },
  );
  t.after(() => gateway[Symbol.asyncDispose]());
  const last = async (name: string, path: string) =>
    (await sendRaw(gateway.port, get(path, `Host: ${name}.test`), { servername: `${name}.test` })).body;
  const waiting: TLSSocket[] = [];
  // An account may have 32 MiB: a quarter of a MiB each for what was asked and answered, and their headers.
  for (let at = 0; at < 127; at++) {
    const socket = await connectClient(gateway.port, { servername: 'one.test' });
    waiting.push(socket);
    const upgrade = at % 2 === 0 ? 'Connection: upgrade\r\nUpgrade: x\r\n' : '';
    socket.write(`GET / HTTP/1.1\r\nHost: one.test\r\n${upgrade}\r\n`);
    await until(() => held.size === at + 1, 'it waits');
  }
  assert.equal(await last('one', '/last'), 'ERR_NGROK_20342');
  assert.equal(await last('two', '/last'), 'none');
  for (const socket of waiting) socket.destroy();
  await until(() => behind.open === 0, 'they are over');
  assert.equal(await last('one', '/last'), 'none');
});

test('a request to a server outside ends with its visitor', async (t) => {
  const { asked, seen } = await startSilent(t);
  using _ = useRequestHosts([`localhost:${asked.port}`]);
  const { gateway } = await startWithPolicy(t, askedFor('/leaves', `http://localhost:${asked.port}/`));
  await leave(gateway.port, asked, seen);
});

test('what cannot be asked is refused when the policy is written', () => {
  const refusal = (config: object) => refusalOf(call(config));
  for (const url of [
    'http://127.0.0.1/',
    'https://example.com/',
    'https://u:p@auth.internal/',
    'tcp://auth.internal:1',
    'auth.internal',
    'https://*.internal/',
  ])
    assert.match(refusal({ url }), /^2226 .*config\.url/, url);
  assert.match(refusal({ method: 'HEAD' }), /^2222 /);
  assert.match(refusal({ timeout: '31s' }), /^2225 /);
  assert.match(refusal({ max_redirects: 3 }), /^2204 .*not followed/);
  assert.match(refusal({ headers: { Host: 'x' } }), /^2208 /);
  assert.match(refusal({ retry_condition: '1' }), /^2200 /);
  assert.match(refusal({ retry_condition: 'last_attempt.res.status > 1' }), /^2200 .*status/);
  assert.match(refusalOf(call({}, 'on_tcp_connect')), /^2202 /);
});
