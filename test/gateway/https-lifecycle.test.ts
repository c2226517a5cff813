import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import type { ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { suite, test } from 'node:test';

import { connectClient, get, openHttp2, parseAnswer, readAll, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startHeldUpstream, startRawUpstream, startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

suite('plain HTTP', async () => {
  const cases: readonly [host: string, path: string, status: number, location: string | undefined][] = [
    ['app.test', '/a?b=1', 308, 'https://app.test/a?b=1'],
    ['APP.test.:80', '/', 308, 'https://app.test/'],
    ['app.test', '//evil.test/', 308, 'https://app.test//evil.test/'],
    ['alt.test', '/', 308, 'https://alt.test:8443/'],
    ['nobody.test', '/', 404, undefined],
    ['app.test/x', '/', 400, undefined],
  ];
  for (const [host, path, status, location] of cases) {
    test(`${host}${path} is answered ${status}`, async () => {
      await using gateway = await startGateway(
        [edgeEntry('e', ['app.test'], []), { ...edgeEntry('e2', [], []), hostports: ['alt.test:8443'] }],
        { plainHttp: true },
      );
      const sent = request({ host: '127.0.0.1', port: gateway.httpPort, path, method: 'POST', headers: { host } });
      const [response] = await once(sent.end(), 'response');
      response.resume();
      assert.equal(response.statusCode, status);
      assert.equal(response.headers.location, location);
    });
  }
});

suite('edges that are served without TLS too', async () => {
  const plainEdge = (id: string, names: readonly string[], backend: string) => ({
    ...edgeEntry(id, names, [prefixRoute('/', toBackend(backend))]),
    plain: true as const,
  });
  const start = (port: number) =>
    startGateway(
      [
        backendEntry('b', port),
        plainEdge('p', ['plain.test'], 'b'),
        edgeEntry('s', ['app.test'], [prefixRoute('/', toBackend('b'))]),
      ],
      { plainHttp: true },
    );
  const ask = async (port: number, sent: string) => {
    const socket = connect(port, '127.0.0.1');
    socket.write(sent);
    return text(socket);
  };
  const schemes = ({ seen }: { readonly seen: readonly { readonly headers: readonly string[] }[] }) =>
    seen.map(({ headers }) => headers[headers.indexOf('X-Forwarded-Proto') + 1]);

  test('get plain requests with http as their scheme, one after another on a connection, and TLS as before', async () => {
    await using upstream = await startUpstream();
    await using gateway = await start(upstream.port);
    const line = (path: string, more = '') => `GET ${path} HTTP/1.1\r\nHost: plain.test\r\n${more}\r\n`;
    await ask(gateway.httpPort, line('/one') + line('/two', 'Connection: close\r\n'));
    assert.deepEqual(
      upstream.seen.map(({ url }) => url),
      ['/one', '/two'],
    );
    const secure = await connectClient(gateway.port, { servername: 'plain.test' });
    secure.write(line('/secure', 'Connection: close\r\n'));
    await readAll(secure);
    assert.deepEqual(schemes(upstream), ['http', 'http', 'https']);
  });

  test('are no way to others: on the same connection, by a wrong port, or in another form of target', async () => {
    await using upstream = await startUpstream();
    await using gateway = await start(upstream.port);
    const { httpPort } = gateway;
    const close = 'Connection: close\r\n\r\n';
    const both = `GET /a HTTP/1.1\r\nHost: plain.test\r\n\r\nGET /b HTTP/1.1\r\nHost: app.test\r\n${close}`;
    const [first = '', second = ''] = (await ask(httpPort, both)).split(/(?=HTTP\/1\.1 308)/);
    assert.match(first, /^HTTP\/1\.1 200/);
    assert.match(second, /^HTTP\/1\.1 308 .*Location: https:\/\/app\.test\/b\r\n/s);
    assert.deepEqual(
      upstream.seen.map(({ url }) => url),
      ['/a'],
    );
    for (const [sent, status] of [
      [`GET / HTTP/1.1\r\nHost: plain.test:443\r\n${close}`, 404],
      [`GET https://plain.test/ HTTP/1.1\r\nHost: plain.test\r\n${close}`, 400],
      [`GET http://app.test/ HTTP/1.1\r\nHost: plain.test\r\n${close}`, 400],
      [`GET / HTTP/1.1\r\nHost: plain.test\r\nHost: app.test\r\n${close}`, 400],
      [`GET / HTTP/1.1\r\n${close}`, 400],
      [`CONNECT plain.test:80 HTTP/1.1\r\nHost: plain.test\r\n${close}`, 400],
      [`GET http://plain.test/x HTTP/1.1\r\nHost: plain.test:80\r\n${close}`, 200],
    ] as const)
      assert.match(await ask(httpPort, sent), new RegExp(`^HTTP/1\\.1 ${status} `), sent);
    assert.equal(upstream.seen.length, 2);
  });
});

function entries(port: number) {
  return [backendEntry('b', port), edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))])];
}

suite('draining', async () => {
  test('ends at once where nothing is open, and accepts nobody', async () => {
    const gateway = await startGateway([]);
    await gateway.drain(60_000);
    const socket = connect(gateway.port, '127.0.0.1');
    const [error] = await once(socket, 'error');
    assert.match(String(error), /ECONNREFUSED/);
  });

  test('lets an open HTTP/1.1 request end, and asks for the connection to be closed', async () => {
    await using upstream = await startHeldUpstream('', 'done');
    const gateway = await startGateway(entries(upstream.port));
    const idle = await connectClient(gateway.port);
    idle.write('GET /nothing HTTP/1.1\r\nHost: other\r\n\r\n');
    await once(idle, 'data');
    const busy = sendRaw(gateway.port, 'GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
    while (upstream.seen.length === 0) await new Promise(setImmediate);
    const drained = gateway.drain(60_000);
    await readAll(idle);
    upstream.release();
    const answer = await busy;
    assert.equal(answer.body, 'done');
    assert.equal(answer.headers['connection'], 'close');
    await drained;
  });

  test('lets an open HTTP/2 stream end, and takes no more', async () => {
    await using upstream = await startHeldUpstream('', 'done');
    const gateway = await startGateway(entries(upstream.port));
    const session = openHttp2(gateway.port);
    const answer = requestHttp2(session, { ':path': '/' });
    while (upstream.seen.length === 0) await new Promise(setImmediate);
    const goaway = once(session, 'goaway');
    const drained = gateway.drain(60_000);
    await goaway;
    upstream.release();
    assert.equal((await answer).body, 'done');
    await drained;
  });

  test('closes what is left when the time is over', async () => {
    await using upstream = await startRawUpstream(() => {});
    const gateway = await startGateway(entries(upstream.port));
    const answer = sendRaw(gateway.port, get('/'));
    while (upstream.received === '') await new Promise(setImmediate);
    await gateway.drain(50);
    assert.equal((await answer).text, '');
  });
});

suite('relieving', async () => {
  test('asks as many clients of HTTP/1.1 for a new connection as told, with an answer', async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway(entries(upstream.port));
    const [leaving, staying] = [await connectClient(gateway.port), await connectClient(gateway.port)];
    gateway.relieve(1);
    leaving.write('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
    assert.match(await readAll(leaving), /^HTTP\/1\.1 200 [^]*\r\nConnection: close\r\n/i);
    for (const turn of [1, 2]) {
      staying.write('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
      const [answer] = await once(staying, 'data');
      assert.doesNotMatch(String(answer), /connection: close/i, `request ${turn}`);
    }
    staying.destroy();
  });

  test('tells a client of HTTP/2 when its requests under way have been answered', async () => {
    const held: ServerResponse[] = [];
    await using upstream = await startUpstream((_, response) => void held.push(response));
    await using gateway = await startGateway(entries(upstream.port));
    const [leaving, staying] = [openHttp2(gateway.port), openHttp2(gateway.port)];
    let isTold = false;
    const told = once(leaving, 'goaway').then(() => (isTold = true));
    const answers = [requestHttp2(leaving, { ':path': '/' })];
    while (held.length === 0) await new Promise(setImmediate);
    gateway.relieve(1);
    answers.push(requestHttp2(leaving, { ':path': '/' }), requestHttp2(staying, { ':path': '/' }));
    while (held.length < 3) await new Promise(setImmediate);
    assert.equal(isTold, false);
    for (const response of held.splice(0)) response.end('done');
    for (const answer of answers) assert.equal((await answer).body, 'done');
    await told;
    assert.equal(staying.closed, false);
    staying.destroy();
  });
});

test('one connection serves many requests, and is closed when it has been idle for long', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway(
    [backendEntry('b', upstream.port), edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))])],
    { timeouts: { keepAliveMs: 100 } },
  );
  const socket = await connectClient(gateway.port);
  for (let round = 0; round < 3; round++) {
    socket.write('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
    const [data] = await once(socket, 'data');
    assert.equal(parseAnswer(String(data)).body, 'GET / ');
  }
  await readAll(socket);
  const session = openHttp2(gateway.port);
  await requestHttp2(session, { ':path': '/' });
  await once(session, 'close');
});

test('every answered request is reported to the observer, without the query', async () => {
  await using upstream = await startUpstream((_, response) => response.writeHead(201).end());
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))]),
  ]);
  const session = openHttp2(gateway.port);
  await requestHttp2(session, { ':path': '/a?token=secret', ':method': 'POST' }, 'x');
  await sendRaw(gateway.port, get('/b', 'Host: nobody.test'), { servername: 'nobody.test' });
  session.close();
  const reported = gateway.answered.map(({ operationId, durationMs, upstreamMs, ...rest }) => {
    // Only those who get an answer of the gateway itself are told one.
    assert.match(operationId ?? '', rest.errorCode === undefined ? /^$/ : /^op_/);
    assert.ok(durationMs >= (upstreamMs ?? 0));
    return { ...rest, askedUpstream: upstreamMs !== undefined };
  });
  const common = { source: '127.0.0.1' };
  assert.deepEqual(reported, [
    {
      ...common,
      edgeId: 'e',
      routeId: 'route /',
      protocol: '2',
      method: 'POST',
      host: 'app.test',
      path: '/a',
      status: 201,
      errorCode: undefined,
      askedUpstream: true,
    },
    {
      ...common,
      edgeId: undefined,
      routeId: undefined,
      protocol: '1.1',
      method: 'GET',
      host: 'nobody.test',
      path: '/b',
      status: 404,
      errorCode: 3200,
      askedUpstream: false,
    },
  ]);
});

test('of a client that leaves in the middle of a stream of HTTP/2, nothing is kept for the time that a slow one has', async (t) => {
  const idleMs = 86_400_000;
  const timers: NodeJS.Timeout[] = [];
  const { setTimeout: begin } = globalThis;
  t.mock.method(globalThis, 'setTimeout', (run: () => void, ms: number) => {
    const timer = begin(run, ms);
    if (ms === idleMs) timers.push(timer);
    return timer;
  });
  await using upstream = await startRawUpstream(() => {});
  await using gateway = await startGateway(
    [backendEntry('b', upstream.port), edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))])],
    { timeouts: { idleMs } },
  );
  const session = openHttp2(gateway.port);
  session.on('error', () => {});
  session.request({ ':path': '/', ':authority': 'app.test' }).on('error', () => {});
  await until(() => upstream.open === 1, 'it is under way');
  session.destroy();
  await until(() => gateway.answered.length === 1 && upstream.open === 0, 'it is over');
  assert.deepEqual(
    timers.filter((timer) => timer.hasRef()),
    [],
  );
});
