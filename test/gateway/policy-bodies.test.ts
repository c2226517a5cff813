import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { suite, test } from 'node:test';
import type { TestContext } from 'node:test';
import { brotliCompressSync, gunzipSync, gzipSync } from 'node:zlib';

import { connectClient, openHttp2, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend, trafficPolicy } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { GatewaySettings } from './support/https-gateway.ts';
import { startRawUpstream, startUpstream } from './support/https-upstream.ts';
import { clients, readBody } from './support/https-versions.ts';
import { until } from './support/tcp-engine.ts';
import { documentedPolicy, policyOf, refusalOf, startWithPolicy } from './support/policies.ts';

const errorCode = 'gatehouse-error-code';

function post(body: string, ...lines: readonly string[]): string {
  const head = ['POST / HTTP/1.1', 'Host: app.test', 'Connection: close', ...lines].join('\r\n');
  return `${head}\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
}

const replaceIn = (side: 'request' | 'response', ...replacements: readonly object[]) =>
  policyOf(`${side}-body-find-replace`, { replacements }, `on_http_${side}`);

suite('bodies of requests', () => {
  const given = 'password=hunter2&name=Ada';

  test('the documented policy changes what the upstream gets, in both versions of HTTP', async (t) => {
    const { upstream, gateway } = await startWithPolicy(t, documentedPolicy('request-body-find-replace'));
    assert.equal((await sendRaw(gateway.port, post(given, 'Content-Digest: x', 'X-Other: y'))).status, 200);
    const session = openHttp2(gateway.port);
    assert.equal((await requestHttp2(session, { ':method': 'POST', ':path': '/' }, given)).status, 200);
    session.destroy();
    const chunked = 'POST / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n';
    const pieces = `9\r\npassword=\r\n10\r\nhunter2&name=Ada\r\n0\r\n\r\n`;
    assert.equal((await sendRaw(gateway.port, chunked + pieces)).status, 200);
    for (const { body, headers } of upstream.seen) {
      assert.equal(body, 'password=***&name=Ada');
      const names = headers.map((each) => each.toLowerCase());
      assert.equal(headers[names.indexOf('content-length') + 1], String(body.length));
      assert.ok(!names.includes('content-digest') && !names.includes('transfer-encoding'));
    }
    assert.equal(upstream.seen.length, 3);
  });

  test('replacements come one after the other, with groups and expressions, and later rules read what matched', async (t) => {
    const document = {
      on_http_request: [
        {
          actions: [
            {
              type: 'request-body-find-replace',
              config: {
                replacements: [
                  { from: '(?P<first>[a-z]+) ([a-z]+)', to: '$2 $first ${req.method}$$' },
                  { from: '(${req.host})' },
                  { from: '(?:)', to: '' },
                ],
              },
            },
            {
              type: 'add-headers',
              config: {
                headers: {
                  'x-found':
                    '${actions.ngrok.request_body_find_replace.replacements.map(r, r.matched_content).join("|")}',
                },
              },
            },
          ],
        },
      ],
    };
    const { upstream, gateway } = await startWithPolicy(t, document);
    assert.equal((await sendRaw(gateway.port, post('one two; app.test;appxtest'))).status, 200);
    const [seen] = upstream.seen;
    assert.equal(seen?.body, 'two one POST$; ;appxtest');
    const headers = seen?.headers ?? [];
    assert.match(headers[headers.indexOf('x-found') + 1] ?? '', /^one two\|app\.test\|/);
    // Bytes that are no UTF-8 stay as they are.
    await sendRaw(gateway.port, post('\xff a b \xfe'));
    assert.equal(upstream.seen.at(-1)?.body, '\xff b a POST$ \xfe');
    assert.equal(
      (await sendRaw(gateway.port, 'GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n')).status,
      200,
    );
  });

  test('a body in which nothing could be found goes no further', async (t) => {
    const { upstream, gateway } = await startWithPolicy(t, replaceIn('request', { from: 'a', to: 'b' }));
    const compressed = await sendRaw(gateway.port, post('aaa', 'Content-Encoding: gzip'));
    assert.deepEqual([compressed.status, compressed.headers[errorCode]], [500, 'ERR_GATEHOUSE_2238']);
    assert.equal((await sendRaw(gateway.port, post('a'.repeat(524_289)))).status, 413);
    // More matches than are replaced.
    assert.equal((await sendRaw(gateway.port, post('a'.repeat(10_001)))).status, 500);
    assert.equal(upstream.seen.length, 0);
    assert.equal((await sendRaw(gateway.port, post('a'.repeat(10_000), 'Content-Encoding: identity'))).status, 200);
    assert.equal(upstream.seen[0]?.body, 'b'.repeat(10_000));
  });

  test('what takes too much work is refused, and others are served meanwhile', async (t) => {
    const costly = replaceIn('request', { from: '(?:a?){50}(?:a*)*b', to: '' });
    const { upstream, gateway } = await startWithPolicy(t, costly);
    const slow = sendRaw(gateway.port, post('a'.repeat(500_000)));
    const quick = await sendRaw(gateway.port, 'GET / HTTP/1.1\r\nHost: app.test\r\nConnection: close\r\n\r\n');
    assert.equal(quick.status, 200);
    assert.equal((await slow).status, 500);
    assert.equal(upstream.seen.length, 1);
  });
});

test('a body becomes no longer than it may be, whatever stands behind what is replaced', async (t) => {
  const { upstream, gateway } = await startWithPolicy(t, replaceIn('request', { from: 'a', to: 'x'.repeat(100_000) }));
  assert.equal((await sendRaw(gateway.port, post(`a${'y'.repeat(424_288)}`))).status, 200);
  assert.equal(upstream.seen.at(-1)?.body.length, 524_288);
  assert.equal((await sendRaw(gateway.port, post(`a${'y'.repeat(424_289)}`))).status, 500);
  assert.equal(upstream.seen.length, 1);
});

suite('bodies of answers', () => {
  const page = 'Call +1 555 0100 or +1 555 0199.';

  async function start(t: TestContext, document: object | string, more: object = {}) {
    const upstream = await startUpstream((request, response) => {
      const { url = '', headers } = request;
      const coded = headers['accept-encoding'] ?? '';
      if (url === '/coded') response.setHeader('content-encoding', 'br').end(brotliCompressSync(page));
      else if (url === '/gzip' && coded.includes('gzip'))
        response.setHeader('content-encoding', 'gzip').end(gzipSync(page));
      else if (url === '/part' || headers.range !== undefined)
        response.writeHead(206, { 'content-range': 'bytes 0-4/9' }).end('Call ');
      else if (url === '/events') response.setHeader('content-type', 'text/event-stream').write('data: 1\n\n');
      else if (url === '/long') response.end('x'.repeat(524_289));
      else if (url === '/endless') response.write('x'.repeat(524_000), () => response.end('y'.repeat(1000)));
      else if (url === '/large') response.setHeader('content-type', 'text/html').end(page.repeat(50));
      else if (url === '/nothing') response.writeHead(204).end();
      else
        response
          .setHeader('content-type', 'text/html')
          .setHeader('etag', '"v1"')
          .setHeader('accept-ranges', 'bytes')
          .end(page);
    });
    t.after(() => upstream[Symbol.asyncDispose]());
    const modules = { ...toBackend('b'), ...trafficPolicy(document), ...more };
    const gateway = await startGateway([
      backendEntry('b', upstream.port),
      edgeEntry('e', ['app.test'], [prefixRoute('/', modules)]),
    ]);
    t.after(() => gateway[Symbol.asyncDispose]());
    return { upstream, gateway };
  }

  for (const [version, ask] of Object.entries(clients)) {
    test(`${version}: the documented policy changes what visitors get, whatever form they ask for`, async (t) => {
      const { upstream, gateway } = await start(t, documentedPolicy('response-body-find-replace'));
      for (const path of ['/', '/gzip']) {
        const headers = { 'accept-encoding': 'gzip, br', range: 'bytes=0-4', 'if-range': '"v1"' };
        const answer = await ask(gateway.port, { path, headers });
        const { bytes, whole } = await readBody(answer);
        assert.deepEqual(
          [answer.status, whole, bytes.toString()],
          [200, true, 'Call (number hidden) or (number hidden).'],
        );
        if (path === '/')
          assert.deepEqual([answer.headers['etag'], answer.headers['accept-ranges']], ['W/"v1"', undefined]);
      }
      const asked = new Set(upstream.seen.flatMap(({ headers }) => headers.map((each) => each.toLowerCase())));
      for (const name of ['accept-encoding', 'range', 'if-range']) assert.ok(!asked.has(name), name);
      assert.equal((await ask(gateway.port, { path: '/nothing' })).status, 204);
      const head = await ask(gateway.port, { method: 'HEAD' });
      assert.equal(head.status, 200);
    });

    test(`${version}: an answer in which not all could be found does not go out`, async (t) => {
      const { gateway } = await start(t, documentedPolicy('response-body-find-replace'));
      for (const path of ['/coded', '/part', '/events', '/long']) {
        const { status, headers } = await ask(gateway.port, { path });
        assert.deepEqual([status, headers[errorCode]], [500, 'ERR_GATEHOUSE_2238'], path);
      }
      const { bytes, whole } = await readBody(await ask(gateway.port, { path: '/endless' }));
      assert.deepEqual([bytes.length, version !== 'HTTP/1.0' && whole], [0, false]);
    });

    test(`${version}: what was changed may be compressed afterwards`, async (t) => {
      const replace = {
        type: 'response-body-find-replace',
        config: { replacements: [{ from: '555', to: '${req.method}' }] },
      };
      const compress = { type: 'compress-response', config: { algorithms: ['gzip'] } };
      for (const [actions, more] of [
        [[replace, compress], {}],
        [[replace], { compression: { enabled: true } }],
      ] as const) {
        const { gateway } = await start(t, { on_http_response: [{ actions }] }, more);
        const answer = await ask(gateway.port, { headers: { 'accept-encoding': 'gzip' } });
        const { bytes } = await readBody(answer);
        assert.equal(answer.headers['content-encoding'], 'gzip');
        assert.equal(gunzipSync(bytes).toString(), page.replaceAll('555', 'GET'));
      }
    });

    test(`${version}: an endpoint that forwards asks for an answer that it can read`, async (t) => {
      const { gateway } = await start(t, {
        on_http_request: [{ actions: [{ type: 'forward-internal', config: { url: 'https://inner.internal' } }] }],
        ...replaceIn('response', { from: '555', to: '5' }),
      });
      const modules = { ...toBackend('b'), compression: { enabled: true } };
      await gateway.set({
        kind: 'internal_endpoint',
        id: 'inner',
        accountId: 'acc_1',
        url: 'https://inner.internal',
        modules,
      });
      const answer = await ask(gateway.port, { path: '/large', headers: { 'accept-encoding': 'gzip' } });
      const { bytes } = await readBody(answer);
      assert.deepEqual([answer.status, bytes.toString()], [200, page.replaceAll('555', '5').repeat(50)]);
    });
  }
});

/** What is answered with, where there is no room for a body. */
const noRoom = [503, 'ERR_GATEHOUSE_20342', '1'];
const refusalOfAnswer = ({
  status,
  headers,
}: {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
}) => [status, headers[errorCode], headers['retry-after']];

test('bodies that were changed count as held, as long as the upstream does not answer', async (t) => {
  const asked = new Set<Socket>();
  const upstream = await startRawUpstream((socket) => asked.add(socket));
  t.after(() => upstream[Symbol.asyncDispose]());
  const modules = { ...toBackend('b'), ...trafficPolicy(replaceIn('request', { from: 'first', to: 'other' })) };
  const gateway = await startGateway(
    [backendEntry('b', upstream.port), edgeEntry('e', ['app.test'], [prefixRoute('/', modules)])],
    { timeouts: { idleMs: 86_400_000 } },
  );
  t.after(() => gateway[Symbol.asyncDispose]());
  // An account may have 32 MiB: 32 bodies as they came and as they became.
  const body = 'first'.padEnd(524_288, 'x');
  const visitors = await Promise.all(Array.from({ length: 32 }, () => connectClient(gateway.port)));
  for (const visitor of visitors) visitor.write(post(body));
  await until(() => asked.size === 32, 'all have reached the upstream');
  assert.deepEqual(refusalOfAnswer(await sendRaw(gateway.port, post(body))), noRoom);
  // Nothing is held for what no rule holds.
  for (const visitor of visitors) visitor.destroy();
  await until(() => upstream.open === 0, 'the gateway has left');
  const last = sendRaw(gateway.port, post(body));
  await until(() => asked.size === 33, 'there is room again');
  for (const socket of asked) socket.destroy();
  assert.equal((await last).status, 502);
});

suite('answers that are changed, of upstreams that do not end them', () => {
  async function start(t: TestContext, settings: GatewaySettings = {}) {
    const asked = new Set<Socket>();
    const upstream = await startRawUpstream((socket, received) => {
      asked.add(socket);
      const length = received.includes('/short') ? 5 : 524_288;
      // Kept open, the connection of a short answer would end by its time limit.
      const close = length === 5 ? 'Connection: close\r\n' : '';
      socket.write(`HTTP/1.1 200 OK\r\n${close}Content-Length: ${length}\r\n\r\nvalue`);
    });
    t.after(() => upstream[Symbol.asyncDispose]());
    const modules = { ...toBackend('b'), ...trafficPolicy(replaceIn('response', { from: 'value', to: 'other' })) };
    const edges = ['one', 'two'].map((name) => ({
      ...edgeEntry(name, [`${name}.test`], [prefixRoute('/', modules)], name),
    }));
    const gateway = await startGateway([backendEntry('b', upstream.port), ...edges], {
      timeouts: { idleMs: 86_400_000 },
      ...settings,
    });
    t.after(() => gateway[Symbol.asyncDispose]());
    return { asked, upstream, gateway };
  }
  const ask = (name: string, path: string) => `GET ${path} HTTP/1.1\r\nHost: ${name}.test\r\nConnection: close\r\n\r\n`;

  test('no encoder is needed to change one', async (t) => {
    const { asked, gateway } = await start(t, { bounds: { responseEncoders: 1 } });
    const waiting = await Promise.all(
      Array.from({ length: 3 }, () => connectClient(gateway.port, { servername: 'one.test' })),
    );
    for (const socket of waiting) socket.write(ask('one', '/'));
    await until(() => asked.size === 3, 'all are held');
    const { status, body } = await sendRaw(gateway.port, ask('one', '/short'), { servername: 'one.test' });
    assert.equal(status, 200);
    assert.match(body, /^5\r\nother\r\n/);
    for (const socket of waiting) socket.destroy();
  });

  test('an account that holds as many as it may is told so, and others are served', async (t) => {
    const { asked, upstream, gateway } = await start(t);
    const waiting = await Promise.all(
      Array.from({ length: 64 }, () => connectClient(gateway.port, { servername: 'one.test' })),
    );
    for (const socket of waiting) socket.write(ask('one', '/'));
    await until(() => asked.size === 64, 'all are held');
    assert.deepEqual(refusalOfAnswer(await sendRaw(gateway.port, ask('one', '/'), { servername: 'one.test' })), noRoom);
    assert.match(
      (await sendRaw(gateway.port, ask('two', '/short'), { servername: 'two.test' })).body,
      /^5\r\nother\r\n/,
    );
    for (const socket of waiting) socket.destroy();
    await until(() => upstream.open === 0, 'the gateway has left');
    assert.match(
      (await sendRaw(gateway.port, ask('one', '/short'), { servername: 'one.test' })).body,
      /^5\r\nother\r\n/,
    );
  });
});

test('what could never be replaced is refused when the policy is written', () => {
  const refusal = (replacement: object) => refusalOf(replaceIn('request', replacement));
  assert.match(refusal({ from: '(' }), /^2261 .*replacements\[0\]\.from/);
  assert.match(
    refusal({ to: 'a' }),
    /^2234 .*lacks from at on_http_request\[0\]\.actions\[0\]\.config\.replacements\[0\]/,
  );
  assert.match(refusal({ from: 'a', to: '$1'.repeat(101) }), /^2204 .*replacements\[0\]\.to.*more than 100/);
  assert.match(refusal({ from: 'a', with: 'b' }), /^2203 .*\.with/);
  assert.match(refusalOf(policyOf('request-body-find-replace', {})), /^2234 .*replacements/);
  assert.match(refusalOf(policyOf('request-body-find-replace', { replacements: [] })), /^2203 .*replacements/);
  assert.match(
    refusalOf(policyOf('response-body-find-replace', { replacements: [{ from: 'a' }] })),
    /^2202 .*on_http_response/,
  );
});
