import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import type { TLSSocket } from 'node:tls';

import { useRequestHosts } from '../../src/modules/request-hosts.ts';
import { until } from '../e2e/gateway/support/until.ts';
import { internal, startAsked, telling } from './support/asked-endpoint.ts';
import { connectClient, get, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend, trafficPolicy } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startRawUpstream } from './support/https-upstream.ts';
import type { TestUpstream } from './support/https-upstream.ts';
import { policyOf, refusalOf, startWithPolicy } from './support/policies.ts';

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

test('a request to a server outside ends with its visitor', async (t) => {
  const { asked, seen } = await startSilent(t);
  using _ = useRequestHosts([`localhost:${asked.port}`]);
  const { gateway } = await startWithPolicy(t, askedFor('/leaves', `http://localhost:${asked.port}/`));
  await leave(gateway.port, asked, seen);
});
