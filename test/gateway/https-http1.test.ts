import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { suite, test } from 'node:test';
import { TLSSocket } from 'node:tls';

import { Http1Server } from '../../src/gateway/https/client/h1/http1-server.ts';
import type { Exchange } from '../../src/gateway/https/exchange.ts';
import { IdleWatch } from '../../src/gateway/https/idle-watch.ts';
import { RequestQueue } from '../../src/gateway/turns/request-queue.ts';
import { parseIp } from '../../src/lib/ip/address.ts';
import { connectClient, readAll } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { portOf, startRawUpstream, startUpstream } from './support/https-upstream.ts';

function gatewayTo(port: number) {
  return startGateway([backendEntry('b', port), edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))])]);
}

/** Writes the parts in turn, each after the response to the one before, and reads until the end. */
async function converse(socket: Socket, parts: readonly string[]): Promise<string> {
  const all = text(socket);
  for (const [at, part] of parts.entries()) {
    socket.write(part, 'latin1');
    if (at < parts.length - 1) await once(socket, 'data');
  }
  // Bodies are bytes, of which UTF-8 may be none: both sides are read alike.
  return withoutTime(await all);
}

function withoutTime(all: string): string {
  return all.replaceAll(/op_\w{27}/g, 'op').replaceAll(/^Date: .*GMT\r$/gm, 'Date: now\r');
}

function statusesOf(all: string): readonly number[] {
  return [...all.matchAll(/HTTP\/1\.1 (\d{3}) /g)].map(([, status]) => Number(status));
}

/** That of the gateway of tests. */
const gatewayKeepAliveMs = 10_000;
const host = 'Host: app.test\r\n';
const last = `GET /last HTTP/1.1\r\n${host}Connection: close\r\n\r\n`;

/** Answers of an upstream: the bytes, and the body that a client must get. */
const answers: Readonly<Record<string, readonly [bytes: string, status: number, body: string]>> = {
  'a short body': ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-One: 1\r\nx-one: 2\r\n\r\nhello', 200, 'hello'],
  'no body': ['HTTP/1.1 200 Fine\r\nContent-Length: 0\r\n\r\n', 200, ''],
  'bytes that are no text': ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n\x00\xff\x80\r', 200, '\x00\xff\x80\r'],
  'a long body': [`HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`, 200, 'x'.repeat(100_000)],
  'a chunked body': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n', 200, 'abcde'],
  'chunks with trailers': [
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 3\r\n\r\n',
    200,
    'abc',
  ],
  'an empty chunked body': ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 200, ''],
  'nothing to say': ['HTTP/1.1 204 No Content\r\nX-One: 1\r\n\r\n', 204, ''],
  'not modified': ['HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\nETag: "a"\r\n\r\n', 304, ''],
};

suite('answers are framed as Node’s own server frames them', async () => {
  for (const [name, [bytes, status, body]] of Object.entries(answers)) {
    for (const method of ['GET', 'HEAD', 'DELETE']) {
      for (const version of ['1.1', '1.0'] as const) {
        test(`${name}, to ${method} of HTTP/${version}`, async (t) => {
          const isHead = method === 'HEAD';
          await using upstream = await startRawUpstream((socket) => {
            socket.write(isHead ? bytes.slice(0, bytes.indexOf('\r\n\r\n') + 4) : bytes, 'latin1');
          });
          await using gateway = await gatewayTo(upstream.port);
          // Node's server is given the same answer to write.
          const server = createServer((_request, response) => {
            const [head = '', ...rest] = bytes.split('\r\n\r\n')[0]?.split('\r\n') ?? [];
            const hasLength = /content-length/i.test(bytes) && status !== 304;
            const isCoded = (line: string): boolean => /^(?:content-length|transfer-encoding):/i.test(line);
            const headers = rest.filter((line) => !isCoded(line)).flatMap((line) => line.split(': '));
            if (hasLength || status === 304) headers.push('Content-Length', status === 304 ? '7' : String(body.length));
            response.writeHead(status, head.slice('HTTP/1.1 200 '.length), headers);
            if (bytes.includes('X-Sum')) response.addTrailers({ 'X-Sum': '3' });
            response.end(isHead ? '' : Buffer.from(body, 'latin1'));
          });
          t.after(() => server.close().closeAllConnections());
          server.keepAliveTimeout = gatewayKeepAliveMs;
          server.listen(0, '127.0.0.1');
          await once(server, 'listening');
          const request = `${method} /x?y=1 HTTP/${version}\r\n${host}Accept: */*\r\n`;
          for (const connection of ['close', 'keep-alive']) {
            const isKept = connection === 'keep-alive' && (version === '1.1' || bytes.includes('Content-Length'));
            const parts = [
              `${request}Connection: ${connection}\r\n\r\n`,
              ...(isKept ? [`${request}Connection: close\r\n\r\n`] : []),
            ];
            const ours = await converse(await connectClient(gateway.port), parts);
            const nodes = await converse(connect(portOf(server), '127.0.0.1'), parts);
            assert.deepEqual(framed(ours), framed(nodes));
          }
        });
      }
    }
  }
});

/** The lines of a conversation, those of each head in one order. */
function framed(all: string): readonly string[] {
  return all.split('\r\n\r\n').map((part) => part.split('\r\n').toSorted().join('\n'));
}

/** Requests, and the statuses of the answers to them and to a good one behind them, which is not reached after a close. */
const odd: Readonly<Record<string, readonly [request: string, statuses: readonly number[]]>> = {
  'a body': [`POST /odd HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nabcde`, [200, 200]],
  'a chunked body': [
    `POST /odd HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    [200, 200],
  ],
  'a body with GET': [`GET /odd HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nabcde`, [200, 200]],
  'two lengths': [`GET /odd HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: 5\r\n\r\n`, [400]],
  'length and chunks': [`GET /odd HTTP/1.1\r\n${host}Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n`, [400]],
  'an upgrade': [`GET /odd HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: other\r\n\r\n`, [200]],
  'an expectation': [`GET /odd HTTP/1.1\r\n${host}Expect: 100-continue\r\n\r\n`, [200]],
  'headers named by Connection': [`GET /odd HTTP/1.1\r\n${host}Connection: close, X-One\r\nX-One: 1\r\n\r\n`, [200]],
  'two hosts': [`GET /odd HTTP/1.1\r\n${host}Host: other.test\r\n\r\n`, [400]],
  'no host': ['GET /odd HTTP/1.1\r\nAccept: */*\r\n\r\n', [400, 200]],
  'a space before the colon': [`GET /odd HTTP/1.1\r\n${host}X-One : 1\r\n\r\n`, [400]],
  'a folded line': [`GET /odd HTTP/1.1\r\n${host}X-One: 1\r\n 2\r\n\r\n`, [400]],
  'bare line feeds': ['GET /odd HTTP/1.1\nHost: app.test\n\n', [400]],
  'a bare line feed': [`GET /odd HTTP/1.1\r\n${host}X-One: 1\nX-Two: 2\r\n\r\n`, [400]],
  'a bare carriage return': [`GET /odd HTTP/1.1\r\n${host}X-One: 1\rX-Two: 2\r\n\r\n`, [400]],
  'a control character': [`GET /odd HTTP/1.1\r\n${host}X-One: \x01\r\n\r\n`, [400]],
  'a name that is no token': [`GET /odd HTTP/1.1\r\n${host}X(One): 1\r\n\r\n`, [400]],
  'letters beyond ASCII': [`GET /odd HTTP/1.1\r\n${host}X-One: caf\xe9\r\n\r\n`, [200, 200]],
  'an absolute target': [`GET https://app.test/odd HTTP/1.1\r\n${host}\r\n`, [200, 200]],
  'an asterisk': [`OPTIONS * HTTP/1.1\r\n${host}\r\n`, [400, 200]],
  'an unknown method': [`FETCH /odd HTTP/1.1\r\n${host}\r\n`, [400]],
  'HTTP/1.0': [`GET /odd HTTP/1.0\r\n${host}\r\n`, [200]],
  'HTTP/2.0': [`GET /odd HTTP/2.0\r\n${host}\r\n`, [505]],
  'two requests at once': [`GET /odd HTTP/1.1\r\n${host}\r\nGET /odder HTTP/1.1\r\n${host}\r\n`, [200, 200, 200]],
  'no header at all': ['GET /odd HTTP/1.1\r\n\r\n', [400, 200]],
  'an empty name': [`GET /odd HTTP/1.1\r\n${host}: 1\r\n\r\n`, [400]],
  'a tab in the request line': [`GET\t/odd HTTP/1.1\r\n${host}\r\n`, [400]],
  // The upstream of the test refuses it.
  'a very long head': [`GET /odd HTTP/1.1\r\n${host}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`, [431, 200]],
  'a head beyond the limit': [`GET /odd HTTP/1.1\r\n${host}X-Long: ${'x'.repeat(60_000)}\r\n\r\n`, [431]],
  'a head beyond the limit, without an end': [`GET /odd HTTP/1.1\r\n${host}X-Long: ${'x'.repeat(60_000)}`, [431]],
  'another protocol': ['\x16\x03\x01\x02\x00\x01\x00', [400]],
  'a word that is no method': ['not HTTP', [400]],
  'a long word that is no method': ['X'.repeat(30), [400]],
  'line breaks before': [`\r\n\r\nGET /odd HTTP/1.1\r\n${host}\r\n`, [200, 200]],
  'nothing but line breaks': ['\r\n'.repeat(100), [400]],
  'a chunk that is none': [`POST /odd HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\nx\r\n`, []],
};

suite('requests are read in one way, whatever came before and in whatever pieces', async () => {
  const plain = `GET /plain HTTP/1.1\r\n${host}\r\n`;
  for (const [name, [request, statuses]] of Object.entries(odd)) {
    test(name, async () => {
      await using upstream = await startUpstream();
      await using gateway = await gatewayTo(upstream.port);
      const seen: string[] = [];
      for (const before of [[], [plain], [plain, plain]]) {
        upstream.seen.length = 0;
        const answered = await converse(await connectClient(gateway.port), [...before, `${request}${last}`]);
        assert.deepEqual(statusesOf(answered), [...before.map(() => 200), ...statuses], answered);
        seen.push(
          upstream.seen
            .map(({ url }) => url)
            .filter((url) => url !== '/plain')
            .join(),
        );
      }
      assert.deepEqual(new Set(seen).size, 1, 'the upstream sees the same');
    });

    test(`${name}, in pieces`, async () => {
      await using upstream = await startUpstream();
      await using gateway = await gatewayTo(upstream.port);
      for (const size of [1, 7, 30]) {
        if (request.length / size > 1000) continue;
        const socket = await connectClient(gateway.port);
        socket.setNoDelay();
        const all = readAll(socket);
        const bytes = `${request}${last}`;
        for (let at = 0; at < bytes.length && !socket.readableEnded && !socket.destroyed; at += size) {
          socket.write(bytes.slice(at, at + size), 'latin1');
          await new Promise((resolve) => setImmediate(resolve));
        }
        assert.deepEqual(statusesOf(await all), statuses, `pieces of ${size}`);
      }
    });
  }

  test('a request sent while a response is pending is answered after it', async () => {
    await using upstream = await startUpstream((_, response) => void setTimeout(() => response.end('late'), 50));
    await using gateway = await gatewayTo(upstream.port);
    const socket = await connectClient(gateway.port);
    const all = readAll(socket);
    socket.write(plain);
    await new Promise((resolve) => setTimeout(resolve, 20));
    socket.write(`POST /body HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\nab`);
    await new Promise((resolve) => setTimeout(resolve, 10));
    socket.write(`c${last}`);
    assert.deepEqual(statusesOf(await all), [200, 200, 200]);
    assert.deepEqual(
      upstream.seen.map(({ url }) => url),
      ['/plain', '/body', '/last'],
    );
  });
});

/** A connection whose bytes come from the test and whose writes never get out. */
class StuckSocket extends TLSSocket {
  constructor() {
    super(new Socket());
  }

  override _read(): void {}

  override _write(): void {}

  override _writev(): void {}

  override _final(): void {}
}

test('no request is read after one that closes the connection, also while its answer waits for a slow reader', async () => {
  const timeouts = { headersMs: 10_000, upstreamConnectMs: 10_000, idleMs: 10_000, keepAliveMs: 10_000 };
  const peer = parseIp('127.0.0.1');
  assert.ok(peer);
  const client = {
    peer,
    peerText: '127.0.0.1',
    peerTrusted: false,
    servername: 'app.test',
    certificate: undefined,
    peerPort: 1024,
    isTls13: true,
    localAddress: '127.0.0.1',
    localPort: 443,
    facts: () => assert.fail('nobody asks for them'),
  };
  for (const close of ['by the client', 'by the gateway', 'in a drain'] as const) {
    const handled: string[] = [];
    const handle = (exchange: Exchange): void => {
      handled.push(exchange.target);
      const isLast = close === 'by the gateway';
      exchange.sendHead({ status: 200, reason: 'OK', headers: [], contentLength: 2, close: isLast });
      exchange.end(Buffer.from('ok'), []);
    };
    using watch = new IdleWatch(1000);
    const server = new Http1Server({ watch, timeouts, queue: new RequestQueue(), errorPrefix: 'ERR', handle });
    const socket = new StuckSocket();
    server.accept(socket, client);
    const connection = close === 'by the client' ? 'Connection: close\r\n' : '';
    for (const request of [`GET /a HTTP/1.1\r\n${host}${connection}\r\n`, `DELETE /after HTTP/1.1\r\n${host}\r\n`]) {
      socket.push(request, 'latin1');
      await new Promise((resolve) => setImmediate(resolve));
      if (close === 'in a drain') server.closeIdle();
    }
    assert.deepEqual(handled, ['/a'], `closed ${close}`);
    socket.destroy();
  }
});
