import assert from 'node:assert/strict';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { suite, test } from 'node:test';
import { TLSSocket } from 'node:tls';

import { FastHttp1 } from '../../src/gateway/https/client/fast-path/fast-connection.ts';
import { Http1Server } from '../../src/gateway/https/client/h1-server.ts';
import type { Exchange } from '../../src/gateway/https/exchange.ts';
import { IdleWatch } from '../../src/gateway/https/idle-watch.ts';
import { parseIp } from '../../src/lib/ip/address.ts';
import { connectClient, readAll } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startRawUpstream, startUpstream } from './support/https-upstream.ts';
import type { RawUpstream, TestUpstream } from './support/https-upstream.ts';

/** Starts two gateways to one upstream, with and without the fast path. */
async function bothPaths(upstream: RawUpstream | TestUpstream) {
  const entries = [backendEntry('b', upstream.port), edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))])];
  const fast = await startGateway(entries, { http1FastPath: true });
  const slow = await startGateway(entries, { http1FastPath: false });
  return {
    fast,
    slow,
    async [Symbol.asyncDispose]() {
      await fast[Symbol.asyncDispose]();
      await slow[Symbol.asyncDispose]();
    },
  };
}

/** Writes the parts in turn, each after the response to the one before, and reads until the end. */
async function converse(port: number, parts: readonly string[]): Promise<string> {
  const socket = await connectClient(port);
  const all = readAll(socket);
  for (const [at, part] of parts.entries()) {
    socket.write(part, 'latin1');
    if (at < parts.length - 1) await once(socket, 'data');
  }
  const text = await all;
  return text.replaceAll(/op_\w{27}/g, 'op').replaceAll(/^Date: .*GMT\r$/gm, 'Date: now\r');
}

const host = 'Host: app.test\r\n';
const last = `GET /last HTTP/1.1\r\n${host}Connection: close\r\n\r\n`;

suite('the fast path answers plain requests as the slow path does', async () => {
  const answers: Readonly<Record<string, string>> = {
    'a short body': 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nX-One: 1\r\nx-one: 2\r\n\r\nhello',
    'no body': 'HTTP/1.1 200 Fine\r\nContent-Length: 0\r\n\r\n',
    'bytes that are no text': 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\nX-Name: caf\xe9\r\n\r\n\x00\xff\x80\r',
    'a long body': `HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n${'x'.repeat(100_000)}`,
    'a chunked body': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n',
    'chunks with trailers': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 3\r\n\r\n',
    'an empty chunked body': 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    'a date of its own': 'HTTP/1.1 200 OK\r\nDATE: yesterday\r\nContent-Length: 1\r\n\r\nx',
    'no reason': 'HTTP/1.1 299 \r\nContent-Length: 1\r\n\r\nx',
    'nothing to say': 'HTTP/1.1 204 No Content\r\nX-One: 1\r\n\r\n',
    'not modified': 'HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\nETag: "a"\r\n\r\n',
    'an early hint': 'HTTP/1.1 103 Early Hints\r\nLink: <a>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx',
    'an end by closing': 'HTTP/1.1 200 OK\r\nX-One: 1\r\n\r\nuntil the end',
    'a closing upstream': 'HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 2\r\n\r\nok',
    'a broken head': 'HTTP/1.1 200 OK\r\nbroken\r\n\r\n',
    'a body cut short': 'HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf',
  };
  for (const [name, bytes] of Object.entries(answers)) {
    for (const method of ['GET', 'HEAD', 'OPTIONS', 'DELETE']) {
      test(`${name}, to ${method}`, async () => {
        const isFinal = /closing|cut short/.test(name);
        await using upstream = await startRawUpstream((socket, received) => {
          const answer = received.startsWith('HEAD') ? bytes.slice(0, bytes.lastIndexOf('\r\n\r\n') + 4) : bytes;
          if (isFinal) socket.end(answer, 'latin1');
          else socket.write(answer, 'latin1');
        });
        await using gateways = await bothPaths(upstream);
        const request = `${method} /x?y=1 HTTP/1.1\r\n${host}Accept: */*\r\n`;
        const conversations = [
          [`${request}Connection: close\r\n\r\n`],
          [`${request}\r\n`, `${request}connection: Keep-Alive\r\n\r\n`, `${request}Connection: close\r\n\r\n`],
        ];
        // A response that is cut short closes the connection.
        for (const parts of name === 'a body cut short' ? conversations.slice(0, 1) : conversations) {
          const expected = await converse(gateways.slow.port, parts);
          assert.equal(await converse(gateways.fast.port, parts), expected);
          assert.match(expected, /^HTTP\/1\.1 \d{3} /);
        }
      });
    }
  }
});

suite('requests that are not plain are left to the slow path, in the middle of a connection too', async () => {
  const plain = `GET /plain HTTP/1.1\r\n${host}\r\n`;
  const odd: Readonly<Record<string, string>> = {
    'a body': `POST /odd HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nabcde`,
    'a chunked body': `POST /odd HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n`,
    'a body with GET': `GET /odd HTTP/1.1\r\n${host}Content-Length: 5\r\n\r\nabcde`,
    'two lengths': `GET /odd HTTP/1.1\r\n${host}Content-Length: 0\r\nContent-Length: 5\r\n\r\n`,
    'length and chunks': `GET /odd HTTP/1.1\r\n${host}Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n`,
    'an upgrade': `GET /odd HTTP/1.1\r\n${host}Connection: Upgrade\r\nUpgrade: other\r\n\r\n`,
    'an expectation': `GET /odd HTTP/1.1\r\n${host}Expect: 100-continue\r\n\r\n`,
    'headers named by Connection': `GET /odd HTTP/1.1\r\n${host}Connection: close, X-One\r\nX-One: 1\r\n\r\n`,
    'two hosts': `GET /odd HTTP/1.1\r\n${host}Host: other.test\r\n\r\n`,
    'no host': 'GET /odd HTTP/1.1\r\nAccept: */*\r\n\r\n',
    'a space before the colon': `GET /odd HTTP/1.1\r\n${host}X-One : 1\r\n\r\n`,
    'a folded line': `GET /odd HTTP/1.1\r\n${host}X-One: 1\r\n 2\r\n\r\n`,
    'bare line feeds': 'GET /odd HTTP/1.1\nHost: app.test\n\n',
    'a bare line feed': `GET /odd HTTP/1.1\r\n${host}X-One: 1\nX-Two: 2\r\n\r\n`,
    'a bare carriage return': `GET /odd HTTP/1.1\r\n${host}X-One: 1\rX-Two: 2\r\n\r\n`,
    'a control character': `GET /odd HTTP/1.1\r\n${host}X-One: \x01\r\n\r\n`,
    'a name that is no token': `GET /odd HTTP/1.1\r\n${host}X(One): 1\r\n\r\n`,
    'letters beyond ASCII': `GET /odd HTTP/1.1\r\n${host}X-One: caf\xe9\r\n\r\n`,
    'an absolute target': `GET https://app.test/odd HTTP/1.1\r\n${host}\r\n`,
    'an asterisk': `OPTIONS * HTTP/1.1\r\n${host}\r\n`,
    'an unknown method': `FETCH /odd HTTP/1.1\r\n${host}\r\n`,
    'HTTP/1.0': `GET /odd HTTP/1.0\r\n${host}\r\n`,
    'HTTP/2.0': `GET /odd HTTP/2.0\r\n${host}\r\n`,
    'two requests at once': `GET /odd HTTP/1.1\r\n${host}\r\nGET /odder HTTP/1.1\r\n${host}\r\n`,
    'no header at all': 'GET /odd HTTP/1.1\r\n\r\n',
    'an empty name': `GET /odd HTTP/1.1\r\n${host}: 1\r\n\r\n`,
    'a tab in the request line': `GET\t/odd HTTP/1.1\r\n${host}\r\n`,
    'a very long head': `GET /odd HTTP/1.1\r\n${host}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`,
    'a head beyond the limit': `GET /odd HTTP/1.1\r\n${host}X-Long: ${'x'.repeat(60_000)}\r\n\r\n`,
  };
  for (const [name, request] of Object.entries(odd)) {
    test(name, async () => {
      await using upstream = await startUpstream();
      await using gateways = await bothPaths(upstream);
      for (const before of [[], [plain], [plain, plain]]) {
        const parts = [...before, request, last];
        upstream.seen.length = 0;
        const expected = await converse(gateways.slow.port, parts);
        const seen = upstream.seen.splice(0);
        assert.equal(await converse(gateways.fast.port, parts), expected);
        assert.deepEqual(upstream.seen, seen);
      }
    });
  }

  test('a head in pieces, of any length', async () => {
    await using upstream = await startUpstream();
    await using gateways = await bothPaths(upstream);
    const expected = await converse(gateways.slow.port, [last]);
    for (const cut of [1, 10, 20, last.length - 3, last.length - 1]) {
      const socket = await connectClient(gateways.fast.port);
      const all = readAll(socket);
      await new Promise((resolve) => socket.write(last.slice(0, cut), resolve));
      await new Promise((resolve) => setTimeout(resolve, 20));
      socket.write(last.slice(cut));
      assert.equal((await all).replaceAll(/^Date: .*GMT\r$/gm, 'Date: now\r'), expected, `cut at ${cut}`);
    }
  });

  test('a request sent while a response is pending is answered after it', async () => {
    await using upstream = await startUpstream((_, response) => void setTimeout(() => response.end('late'), 50));
    await using gateways = await bothPaths(upstream);
    const answers = await Promise.all(
      [gateways.slow, gateways.fast].map(async ({ port }) => {
        const socket = await connectClient(port);
        const all = readAll(socket);
        socket.write(plain);
        await new Promise((resolve) => setTimeout(resolve, 20));
        socket.write(`POST /body HTTP/1.1\r\n${host}Content-Length: 3\r\n\r\nab`);
        await new Promise((resolve) => setTimeout(resolve, 10));
        socket.write(`c${last}`);
        return (await all).replaceAll(/^Date: .*GMT\r$/gm, 'Date: now\r');
      }),
    );
    assert.equal(answers[1], answers[0]);
    assert.equal(answers[1]?.match(/^late/gm)?.length ?? 0, answers[0]?.match(/^late/gm)?.length);
    assert.deepEqual(upstream.seen.map(({ url }) => url).toSorted(), [
      '/body',
      '/body',
      '/last',
      '/last',
      '/plain',
      '/plain',
    ]);
  });
});

test('the setting decides whether Node’s own server reads a plain request', async () => {
  await using upstream = await startRawUpstream((socket) => {
    socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
  });
  await using gateways = await bothPaths(upstream);
  let readByNode = 0;
  const count = (): void => void (readByNode += 1);
  subscribe('http.server.request.start', count);
  await converse(gateways.fast.port, [last]);
  assert.equal(readByNode, 0);
  await converse(gateways.slow.port, [last]);
  assert.equal(readByNode, 1);
  unsubscribe('http.server.request.start', count);
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
  };
  for (const path of ['slow', 'fast'] as const) {
    for (const close of ['by the client', 'by the gateway', 'in a drain'] as const) {
      const handled: string[] = [];
      const handle = (exchange: Exchange): void => {
        handled.push(exchange.target);
        const isLast = close === 'by the gateway';
        exchange.sendHead({ status: 200, reason: 'OK', headers: [], contentLength: 2, close: isLast });
        exchange.end(Buffer.from('ok'), []);
      };
      using watch = new IdleWatch(1000);
      const h1 = new Http1Server(timeouts, 'ERR', handle);
      const server = path === 'slow' ? h1 : new FastHttp1(h1, watch, timeouts, handle);
      const socket = new StuckSocket();
      server.accept(socket, client);
      const connection = close === 'by the client' ? 'Connection: close\r\n' : '';
      for (const request of [`GET /a HTTP/1.1\r\n${host}${connection}\r\n`, `DELETE /after HTTP/1.1\r\n${host}\r\n`]) {
        socket.push(request, 'latin1');
        await new Promise((resolve) => setImmediate(resolve));
        if (close === 'in a drain') server.closeIdle();
      }
      assert.deepEqual(handled, ['/a'], `${path} path, closed ${close}`);
      socket.destroy();
      h1.close();
    }
  }
});
