import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { suite, test } from 'node:test';

import { connectClient, get, openHttp2, parseAnswer, readAll, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, requestHeaders, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { headerValues, startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

const head = 'Host: app.test\r\nConnection: close\r\n';

/**
 * Requests that two parsers could read differently: refused here, never forwarded whole. Status 0: the connection is
 * closed without a response, because the fault is in a body that was already being forwarded.
 */
const refused: readonly [name: string, request: string, status: number][] = [
  [
    'Content-Length with Transfer-Encoding',
    `POST / HTTP/1.1\r\n${head}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  [
    'Transfer-Encoding with Content-Length',
    `POST / HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n`,
    400,
  ],
  ['two equal Content-Lengths', `POST / HTTP/1.1\r\n${head}Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc`, 400],
  ['two Content-Lengths', `POST / HTTP/1.1\r\n${head}Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd`, 400],
  ['a list of Content-Lengths', `POST / HTTP/1.1\r\n${head}Content-Length: 3, 3\r\n\r\nabc`, 400],
  ['a signed Content-Length', `POST / HTTP/1.1\r\n${head}Content-Length: +3\r\n\r\nabc`, 400],
  ['a hexadecimal Content-Length', `POST / HTTP/1.1\r\n${head}Content-Length: 0x3\r\n\r\nabc`, 400],
  ['an unknown transfer coding', `POST / HTTP/1.1\r\n${head}Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n`, 400],
  ['a coding before chunked', `POST / HTTP/1.1\r\n${head}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`, 400],
  [
    'chunked twice',
    `POST / HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  [
    'chunked hidden by a vertical tab',
    `POST / HTTP/1.1\r\n${head}Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n`,
    400,
  ],
  ['chunked in HTTP/1.0', `POST / HTTP/1.0\r\n${head}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n`, 400],
  ['a space before the colon', `GET / HTTP/1.1\r\n${head}X-A : 1\r\n\r\n`, 400],
  ['a folded header', `GET / HTTP/1.1\r\n${head}X-A: 1\r\n b\r\n\r\n`, 400],
  ['a folded first header', `GET / HTTP/1.1\r\n X-A: 1\r\n${head}\r\n`, 400],
  ['a bare line feed after a header', `GET / HTTP/1.1\r\n${head}X-A: 1\nX-B: 2\r\n\r\n`, 400],
  ['a bare line feed after the request line', `GET / HTTP/1.1\n${head}\r\n`, 400],
  ['bare line feeds at the end of the head', `GET / HTTP/1.1\r\n${head}X-A: 1\n\n`, 400],
  ['a bare carriage return in a value', `GET / HTTP/1.1\r\n${head}X-A: 1\rX-B: 2\r\n\r\n`, 400],
  ['a NUL in a value', `GET / HTTP/1.1\r\n${head}X-A: 1\0\r\n\r\n`, 400],
  ['a header without a name', `GET / HTTP/1.1\r\n${head}: 1\r\n\r\n`, 400],
  [
    'a bare line feed after a chunk size',
    `POST / HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n`,
    0,
  ],
  [
    'a chunk longer than its size',
    `POST / HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n`,
    0,
  ],
  ['two Host headers', `GET / HTTP/1.1\r\nHost: app.test\r\n${head}\r\n`, 400],
  ['no Host header', 'GET / HTTP/1.1\r\nConnection: close\r\n\r\n', 400],
  ['an empty Host header', 'GET / HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n', 400],
  ['HTTP/1.0 without Host', 'GET / HTTP/1.0\r\n\r\n', 400],
  ['an absolute target for another host', `GET https://other.test/ HTTP/1.1\r\n${head}\r\n`, 400],
  ['an absolute target with a user name', `GET https://app.test@other.test/ HTTP/1.1\r\n${head}\r\n`, 400],
  ['an absolute target of another scheme', `GET http://app.test/ HTTP/1.1\r\n${head}\r\n`, 400],
  [
    'an absolute target for another host than the TLS name',
    'GET https://other.test/ HTTP/1.1\r\nHost: other.test\r\nConnection: close\r\n\r\n',
    421,
  ],
  ['CONNECT', `CONNECT app.test:443 HTTP/1.1\r\n${head}\r\n`, 400],
  ['OPTIONS *', `OPTIONS * HTTP/1.1\r\n${head}\r\n`, 400],
  ['an unknown expectation', `POST / HTTP/1.1\r\n${head}Expect: magic\r\nContent-Length: 1\r\n\r\nx`, 417],
  [
    'an upgrade to cleartext HTTP/2',
    `GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n`,
    400,
  ],
  [
    'an upgrade with a body',
    `POST / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: x\r\nContent-Length: 3\r\n\r\nabc`,
    400,
  ],
  ['headers beyond the limit', `GET / HTTP/1.1\r\n${head}X-A: ${'a'.repeat(70_000)}\r\n\r\n`, 431],
  ['more headers than some upstreams read', `GET / HTTP/1.1\r\n${head}${'a:1\r\n'.repeat(500)}\r\n`, 431],
  ['too many headers', `GET / HTTP/1.1\r\n${head}${'X-A: 1\r\n'.repeat(10_000)}\r\n`, 431],
  ['a target beyond the limit', `GET /${'a'.repeat(70_000)} HTTP/1.1\r\n${head}\r\n`, 431],
  ['something that is not HTTP', 'EHLO app.test\r\n\r\n', 400],
  ...(['/a/../b', '/..', '/a/./b', '/%2e%2e/a', '/a/%2E%2e', '/a/..;/b', '/a/..;x=1/b', '/a/%2e%2e%3b/b'] as const).map(
    (path): [string, string, number] => [`the path ${path}`, get(path), 400],
  ),
  ...(
    ['/a%2fb', '/a%2Fb', '/a%5cb', '/a\\b', '/a%00b', '//app.test/a', '/a%zz', '/a#b', '/%c0%af', '/a b'] as const
  ).map((path): [string, string, number] => [`the path ${path}`, get(path), 400]),
];

suite('what could be read in two ways never reaches the upstream', async () => {
  for (const [name, request, status] of refused) {
    test(`${name} is answered ${status}`, async () => {
      await using upstream = await startUpstream();
      await using gateway = await startGateway([
        backendEntry('b', upstream.port),
        edgeEntry('e', ['app.test', 'other.test'], [prefixRoute('/', toBackend('b'))]),
      ]);
      const answer = await sendRaw(gateway.port, request);
      assert.equal(answer.status, status, answer.text.slice(0, 500));
      if (status > 0) assert.match(answer.headers['gatehouse-error-code'] ?? '', /^ERR_GATEHOUSE_\d+$/);
      assert.equal(upstream.seen.length, 0);
    });
  }
});

const accepted: readonly [name: string, request: string, body: string][] = [
  ['an absolute target for the host', `GET https://APP.test:443/a?b HTTP/1.1\r\n${head}\r\n`, 'GET /a?b '],
  ['an absolute target without a path', `GET https://app.test HTTP/1.1\r\n${head}\r\n`, 'GET / '],
  [
    'chunk extensions',
    `POST / HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n3;x=y\r\nabc\r\n0\r\n\r\n`,
    'POST / abc',
  ],
  [
    'chunked in other case',
    `POST / HTTP/1.1\r\n${head}Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    'POST / abc',
  ],
  ['dots inside a segment', get('/a..b/.c/...'), 'GET /a..b/.c/... '],
  ['an encoded space and umlaut', get('/a%20b/%C3%BC?q=%2f..%2f'), 'GET /a%20b/%C3%BC?q=%2f..%2f '],
];

suite('what is unusual but clear is passed on', async () => {
  for (const [name, request, body] of accepted) {
    test(name, async () => {
      await using upstream = await startUpstream();
      await using gateway = await startGateway([
        backendEntry('b', upstream.port),
        edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))]),
      ]);
      const answer = await sendRaw(gateway.port, request);
      assert.equal(answer.body, body, answer.text.slice(0, 500));
    });
  }
});

test('chunks are framed anew: the upstream sees no extension', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))]),
  ]);
  const body = '3;a="b";c\r\nabc\r\n0;end\r\n\r\n';
  await sendRaw(gateway.port, `POST / HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n${body}`);
  assert.equal(upstream.seen[0]?.body, 'abc');
  assert.deepEqual(headerValues(upstream.seen[0]?.headers ?? [], 'transfer-encoding'), ['chunked']);
});

test('trailers cannot bring in what headers could not', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edgeEntry(
      'e',
      ['app.test'],
      [prefixRoute('/', { ...toBackend('b'), ...requestHeaders({ 'x-user': 'me' }, ['x-internal']) })],
    ),
  ]);
  const trailers =
    'X-Forwarded-For: 1.1.1.1\r\nX_Internal: 1\r\nx-internal: 1\r\nX-User: you\r\nX.User: you\r\nHost: evil\r\n' +
    'Authorization: x\r\nX-Checksum: 7\r\n';
  await sendRaw(
    gateway.port,
    `POST / HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n${trailers}\r\n`,
  );
  assert.deepEqual(upstream.seen[0]?.trailers, ['X-Checksum', '7']);
});

test('a handshake without a server name is refused', async () => {
  await using gateway = await startGateway([]);
  await assert.rejects(connectClient(gateway.port, { servername: '' }));
  assert.deepEqual(gateway.asked, []);
});

test('a handshake for a name that is none is refused', async () => {
  await using gateway = await startGateway([]);
  await assert.rejects(connectClient(gateway.port, { servername: '*.wild.test' }));
  assert.deepEqual(gateway.asked, []);
});

test('a certificate is asked for with the account of the edge, and with none for a host that nobody serves', async () => {
  await using gateway = await startGateway([edgeEntry('e', ['app.test', '*.wild.test'], [], 'acc_7')]);
  for (const servername of ['app.test', 'APP.test', 'a.wild.test', 'other.test']) {
    (await connectClient(gateway.port, { servername })).destroy();
  }
  assert.deepEqual(gateway.asked, [
    { accountId: 'acc_7', servername: 'app.test' },
    { accountId: 'acc_7', servername: 'app.test' },
    { accountId: 'acc_7', servername: 'a.wild.test' },
    { accountId: undefined, servername: 'other.test' },
  ]);
  assert.equal(gateway.accountOfHost('A.wild.test'), 'acc_7');
  assert.equal(gateway.accountOfHost('other.test'), undefined);
});

suite('what does not come in time', { concurrency: true }, () => {
  /** The handshake is under it too, which takes its time on a busy machine. */
  const limitMs = 10_000;

  test('headers that do not come in time are answered 408', async () => {
    await using gateway = await startGateway([], { timeouts: { headersMs: limitMs } });
    const socket = await connectClient(gateway.port);
    socket.write('GET / HTTP/1.1\r\nHost: app.test\r\nX-Slow:');
    const drip = setInterval(() => socket.write('a'), 20);
    const answer = parseAnswer(await readAll(socket));
    clearInterval(drip);
    assert.equal(answer.status, 408);
    assert.equal(answer.headers['gatehouse-error-code'], 'ERR_GATEHOUSE_20026');
  });

  test('headers of a second request that do not come in time are answered 408', async () => {
    await using gateway = await startGateway([], { timeouts: { headersMs: limitMs } });
    const socket = await connectClient(gateway.port);
    socket.write('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
    await once(socket, 'data');
    socket.write('GET / HTTP/1.1\r\nHost: app.test\r\nX-Slow:');
    const drip = setInterval(() => socket.write('a'), 20);
    const text = await readAll(socket);
    clearInterval(drip);
    assert.match(text, /HTTP\/1\.1 408 /);
  });

  test('a handshake that does not come in time is closed, however it drips', async () => {
    await using gateway = await startGateway([], { timeouts: { headersMs: limitMs } });
    const socket = connect(gateway.port, '127.0.0.1');
    socket.on('error', () => {}).resume();
    // The start of a long handshake record.
    socket.write(Buffer.from([0x16, 3, 1, 0x10, 0, 1, 0, 0x0f, 0xfc]));
    const drip = setInterval(() => socket.write('\0'), 20);
    // The connection may also end with a reset.
    try {
      await until(() => socket.closed, 'the gateway closes the connection');
    } finally {
      clearInterval(drip);
      socket.destroy();
    }
  });

  test('a body that does not come is answered 408', async () => {
    await using upstream = await startUpstream();
    await using gateway = await startGateway(
      [backendEntry('b', upstream.port), edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))])],
      { timeouts: { idleMs: limitMs } },
    );
    const answer = await sendRaw(gateway.port, `POST / HTTP/1.1\r\n${head}Content-Length: 10\r\n\r\nabc`);
    assert.equal(answer.status, 408);
    assert.equal(upstream.seen.length, 0);
  });
});

test('a refused client that reads its answer and keeps its side open is closed a moment later', async () => {
  await using gateway = await startGateway([], { plainHttp: true, timeouts: { headersMs: 600_000 } });
  const socket = connect({ port: gateway.httpPort, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket.on('error', () => {}).on('data', (chunk) => (text += String(chunk)));
  socket.write('nonsense\r\n\r\n');
  await once(socket, 'end');
  assert.equal(parseAnswer(text).status, 400);
  await until(() => gateway.inUse.client_connections === 0, 'it is closed');
  socket.destroy();
});

test('a pipelined request that changes protocol cannot get between the answers', async () => {
  await using upstream = await startUpstream((_, response) => {
    setTimeout(() => response.end('late'), 50);
  });
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))]),
  ]);
  const upgrade = 'GET /b HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n';
  const first = 'GET /a HTTP/1.1\r\nHost: app.test\r\n\r\n';
  const { text } = await sendRaw(gateway.port, `${first}${upgrade}GET /c HTTP/1.1\r\nHost: app.test\r\n\r\n`);
  assert.match(text, /^HTTP\/1\.1 200 [^]*\r\n\r\n4?[\r\n]*late[^]*HTTP\/1\.1 200 [^]*late/);
  assert.deepEqual(
    upstream.seen.map(({ url }) => url),
    ['/a', '/b'],
  );
});

test('pipelined requests are answered in order', async () => {
  await using upstream = await startUpstream((request, response) => {
    setTimeout(() => response.end(request.url), request.url === '/slow' ? 40 : 0);
  });
  await using gateway = await startGateway([
    backendEntry('b', upstream.port),
    edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))]),
  ]);
  const first = 'GET /slow HTTP/1.1\r\nHost: app.test\r\n\r\n';
  const { text } = await sendRaw(gateway.port, `${first}${get('/fast')}`);
  assert.match(text, /\/slow[^]*\/fast$/);
});

suite('HTTP/2 requests that could be read in two ways', async () => {
  // Status 0: the HTTP/2 layer itself resets the stream.
  const requests: readonly [name: string, headers: Record<string, string>, status: number][] = [
    ['a host that is not the authority', { ':path': '/', host: 'other.test' }, 400],
    ['another scheme', { ':path': '/', ':scheme': 'http' }, 400],
    ['a path with dots', { ':path': '/a/../b' }, 400],
    ['a path that is none', { ':path': '*' }, 0],
    ['an authority that is no host', { ':path': '/', ':authority': 'app.test/x' }, 0],
    ['another host than the TLS name', { ':path': '/', ':authority': 'other.test' }, 421],
  ];
  for (const [name, headers, status] of requests) {
    test(`${name}: ${status}`, async () => {
      await using upstream = await startUpstream();
      await using gateway = await startGateway([
        backendEntry('b', upstream.port),
        edgeEntry('e', ['app.test', 'other.test'], [prefixRoute('/', toBackend('b'))]),
      ]);
      const session = openHttp2(gateway.port);
      const answer = await requestHttp2(session, headers);
      session.close();
      assert.equal(answer.status, status);
      assert.equal(upstream.seen.length, 0);
    });
  }
});
