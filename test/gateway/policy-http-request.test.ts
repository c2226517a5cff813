import assert from 'node:assert/strict';
import { test } from 'node:test';

import { useRequestHosts } from '../../src/modules/request-hosts.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { internal, ofVault, startAsked, telling } from './support/asked-endpoint.ts';
import { get, openHttp2, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, toBackend, trafficPolicy } from './support/https-entries.ts';
import { documentedPolicy, startWithPolicy, vaultWith } from './support/policies.ts';

const errorCode = 'gatehouse-error-code';

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

test('an answer is read up to its bound in whatever way it comes, also from a server outside', async (t) => {
  let ended = 0;
  const { asked, entries } = await startAsked(t, ({ url = '' }, response) => {
    const [, way, length] = url.split('/');
    if (way === 'whole') response.end('x'.repeat(Number(length)));
    if (way === 'chunks') {
      for (let left = Number(length); left > 0; left -= 20_000) response.write('x'.repeat(Math.min(left, 20_000)));
      response.end();
    }
    if (way !== 'endless') return;
    const more = (): void => void response.write('x'.repeat(100_000));
    response.on('drain', more).on('close', () => (ended += 1));
    more();
  });
  const server = `localhost:${asked.port}`;
  using _ = useRequestHosts([server]);
  const r = 'actions.ngrok.http_request';
  const told = `\${has(${r}.error) ? ${r}.error.code : string(${r}.res.body.size())}`;
  const { gateway, setPolicy } = await startWithPolicy(t, telling({}, told), entries);
  for (const [at, host] of ['https://auth.internal', `http://${server}`].entries()) {
    await setPolicy(telling({ url: `${host}\${req.url.path}` }, told));
    const ask = async (path: string) => (await sendRaw(gateway.port, get(path))).body;
    for (const way of ['whole', 'chunks']) {
      assert.equal(await ask(`/${way}/262144`), '262144', `${host} ${way}`);
      assert.equal(await ask(`/${way}/262145`), 'ERR_NGROK_3601', `${host} ${way}`);
    }
    assert.equal(await ask('/endless'), 'ERR_NGROK_3601', host);
    await until(() => ended === at + 1, 'the connection to it is closed');
  }
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
