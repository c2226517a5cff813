import assert from 'node:assert/strict';
import { once } from 'node:events';
import { suite, test } from 'node:test';

import { connectClient, openHttp2, parseAnswer, readAll, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startUpstream } from './support/https-upstream.ts';

function gatewayTo(port: number) {
  return startGateway([backendEntry('b', port), edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))])]);
}

const rest = 'Host: app.test\r\nConnection: close\r\n\r\n';
const plain = 'GET /plain HTTP/1.1\r\nHost: app.test\r\n\r\n';
const withBody = 'POST /plain HTTP/1.1\r\nHost: app.test\r\nContent-Length: 5\r\n\r\nabcde';
const withChunks = 'POST /plain HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';

const lines: readonly [line: string, status: number, code: string][] = [
  ['GET /x', 505, '20123'],
  ['GET /x HTTP/0.9', 505, '20123'],
  ['GET /x HTTP/2.0', 505, '20123'],
  ['POST /x HTTP/2.0', 505, '20123'],
  ['GET /x HTTP/1.2', 400, '20024'],
  ['GET /x HTTP/3.0', 400, '20024'],
  ['GET /x RTSP/1.0', 400, '20102'],
  ['GET /x RTSP/1.1', 400, '20102'],
  ['OPTIONS /x RTSP/1.0', 400, '20102'],
  ['DESCRIBE /x RTSP/1.0', 400, '20102'],
  ['SOURCE /x ICE/1.0', 400, '20102'],
  ['GET  /x HTTP/1.1', 400, '20102'],
  ['GET /x  HTTP/1.1', 400, '20102'],
  ['GET    /x    HTTP/1.0', 400, '20102'],
  ['GET\t/x HTTP/1.1', 400, '20024'],
  ['GET /x HTTP/1.1 ', 400, '20024'],
  [' GET /x HTTP/1.1', 400, '20024'],
];

suite(
  'a request line that is not of HTTP/1.1 or HTTP/1.0, with single spaces, never reaches the upstream',
  async () => {
    for (const [line, status, code] of lines) {
      const request = `${line}\r\n${rest}`;

      test(`${JSON.stringify(line)} is answered ${status}`, async () => {
        await using upstream = await startUpstream();
        await using gateway = await gatewayTo(upstream.port);
        const answer = await sendRaw(gateway.port, request);
        assert.equal(answer.status, status, answer.text);
        assert.equal(answer.headers['gatehouse-error-code'], `ERR_GATEHOUSE_${code}`);
        assert.equal(answer.headers['connection'], 'close');
        assert.equal(upstream.connections, 0);
      });

      test(`${JSON.stringify(line)} after other requests, and byte by byte`, async () => {
        await using upstream = await startUpstream();
        await using gateway = await gatewayTo(upstream.port);
        for (const before of [plain, withBody, withChunks]) {
          const socket = await connectClient(gateway.port);
          const first = once(socket, 'data');
          socket.write(before);
          await first;
          const all = readAll(socket);
          for (const byte of request) {
            if (socket.readableEnded || socket.destroyed) break;
            socket.write(byte);
            await new Promise((resolve) => setImmediate(resolve));
          }
          assert.match(await all, new RegExp(`(?:^|\r\n\r\n)HTTP/1.1 ${status} `));
        }
        assert.deepEqual(
          upstream.seen.map(({ url }) => url),
          ['/plain', '/plain', '/plain'],
        );
      });
    }

    test('a line of RTSP behind other requests in one write', async () => {
      for (const before of [plain, withBody, withChunks, plain + withBody]) {
        await using upstream = await startUpstream();
        await using gateway = await gatewayTo(upstream.port);
        await sendRaw(gateway.port, `${before}GET /x RTSP/1.0\r\n${rest}`);
        assert.ok(!upstream.seen.some(({ url }) => url === '/x'));
      }
    });
  },
);

test('requests are served after long bodies, empty lines and blanks, in any pieces', async () => {
  await using upstream = await startUpstream((request, response) => response.end(request.url));
  await using gateway = await gatewayTo(upstream.port);
  const long = `POST /long HTTP/1.1\r\nHost: app.test\r\nContent-Length: 300000\r\n\r\n${'GET /x RTSP/1.0\r\n'.padEnd(300_000, 'x')}`;
  const blanks = `POST /blanks HTTP/1.1\r\nHost: app.test\r\nX-A:${' '.repeat(20_000)}1\r\nContent-Length: 0\r\n\r\n`;
  const bytes = Buffer.from(`${withBody}\r\n${long}\r\n\r\n${blanks}${withChunks}POST /end HTTP/1.1\r\n${rest}`);
  for (const size of [bytes.length, 70_001, 16_384, 999]) {
    upstream.seen.length = 0;
    const socket = await connectClient(gateway.port);
    const all = readAll(socket);
    for (let at = 0; at < bytes.length; at += size) {
      socket.write(bytes.subarray(at, at + size));
      await new Promise((resolve) => setImmediate(resolve));
    }
    assert.match(await all, /\/end(?:\r\n0\r\n\r\n)?$/);
    assert.deepEqual(upstream.seen.map(({ url }) => url).toSorted(), ['/blanks', '/end', '/long', '/plain', '/plain']);
  }
});

test('a client may send a line break behind each body, however many requests it makes', async () => {
  await using upstream = await startUpstream();
  await using gateway = await gatewayTo(upstream.port);
  const { text } = await sendRaw(gateway.port, `${`${withBody}\r\n`.repeat(50)}GET /end HTTP/1.1\r\n${rest}`);
  assert.equal(text.match(/HTTP\/1\.1 200 /g)?.length, 51);
  assert.equal(upstream.seen.length, 51);
});

suite('methods that show a client what the upstream got are not served', async () => {
  for (const method of ['TRACE', 'TRACK', 'trace', 'Track']) {
    test(`${method}: 501 over HTTP/2`, async () => {
      await using upstream = await startUpstream();
      await using gateway = await gatewayTo(upstream.port);
      const session = openHttp2(gateway.port);
      const answer = await requestHttp2(session, { ':path': '/', ':method': method });
      session.close();
      assert.equal(answer.status, 501);
      assert.match(answer.body, /"ERR_GATEHOUSE_20124"[^]*Use another method/);
      assert.equal(upstream.connections, 0);
    });
  }

  test('TRACE: 501 over HTTP/1.1, also after a plain request', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    const trace = `TRACE / HTTP/1.1\r\n${rest}`;
    assert.equal((await sendRaw(gateway.port, trace)).status, 501);
    assert.match((await sendRaw(gateway.port, plain + trace)).text, /HTTP\/1\.1 501 /);
    assert.deepEqual(
      upstream.seen.map(({ url }) => url),
      ['/plain'],
    );
  });

  test('TRACK: 400 over HTTP/1.1, as Node’s parser does not know it', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    assert.equal((await sendRaw(gateway.port, `TRACK / HTTP/1.1\r\n${rest}`)).status, 400);
    assert.equal(upstream.connections, 0);
  });
});

suite('an upgrade to a protocol that carries requests, or to none, never reaches the upstream', async () => {
  for (const upgrade of [
    'h2c',
    'H2C',
    'h2c;x',
    'h2c-14',
    'h2-14',
    'h2',
    'h3-29',
    'hq-29',
    'HTTP/2.0',
    'TLS/1.0',
    'SPDY/3',
    'websocket, h2c',
    'h2c , websocket',
    'websocket h2c',
    'websocket;h2c',
    'websocket/13/h2c',
    '"h2c"',
    'websocket\xa0,h2c',
    ',',
  ]) {
    test(JSON.stringify(upgrade), async () => {
      await using upstream = await startUpstream();
      await using gateway = await gatewayTo(upstream.port);
      const socket = await connectClient(gateway.port);
      socket.write(`GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`, 'latin1');
      const { status, headers } = parseAnswer(await readAll(socket));
      assert.deepEqual([status, headers['gatehouse-error-code']], [400, 'ERR_GATEHOUSE_20125']);
      assert.equal(upstream.connections, 0);
    });
  }

  test('other protocols are still offered to the upstream', async () => {
    for (const upgrade of ['websocket', 'WebSocket', 'echo/1', 'websocket, echo', 'x-h2']) {
      await using upstream = await startUpstream((_, response) => response.writeHead(426).end('no'));
      await using gateway = await gatewayTo(upstream.port);
      const request = `GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: ${upgrade}\r\n\r\n`;
      assert.equal((await sendRaw(gateway.port, request)).status, 426, upgrade);
    }
  });
});
