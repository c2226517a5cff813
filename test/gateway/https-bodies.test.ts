import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

import { connectClient, get, openHttp2, parseAnswer, readAll, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { GatewaySettings } from './support/https-gateway.ts';
import { headerValues, startRawUpstream, startUpstream } from './support/https-upstream.ts';

const head = 'Host: app.test\r\nConnection: close\r\n';

function gatewayTo(port: number, settings?: GatewaySettings) {
  return startGateway(
    [backendEntry('b', port), edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))])],
    settings,
  );
}

suite('request bodies', async () => {
  test('a body of known length keeps its length', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    await sendRaw(gateway.port, `PUT / HTTP/1.1\r\n${head}Content-Length: 5\r\n\r\nabcde`);
    assert.equal(upstream.seen[0]?.body, 'abcde');
    assert.deepEqual(headerValues(upstream.seen[0]?.headers ?? [], 'content-length'), ['5']);
    assert.deepEqual(headerValues(upstream.seen[0]?.headers ?? [], 'transfer-encoding'), []);
  });

  test('an empty body arrives with its length of 0', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    await sendRaw(gateway.port, `POST / HTTP/1.1\r\n${head}Content-Length: 0\r\n\r\n`);
    assert.deepEqual(headerValues(upstream.seen[0]?.headers ?? [], 'content-length'), ['0']);
  });

  test('a chunked body with trailers arrives so', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    const body = '3\r\nabc\r\n2\r\nde\r\n0\r\nX-Sum: 5\r\n\r\n';
    await sendRaw(gateway.port, `POST / HTTP/1.1\r\n${head}Transfer-Encoding: chunked\r\n\r\n${body}`);
    assert.equal(upstream.seen[0]?.body, 'abcde');
    assert.deepEqual(upstream.seen[0]?.trailers, ['X-Sum', '5']);
  });

  test('an HTTP/2 body of unknown length with trailers arrives chunked', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    const session = openHttp2(gateway.port);
    await requestHttp2(session, { ':path': '/', ':method': 'POST' }, 'abcde', { 'x-sum': '5' });
    session.close();
    assert.equal(upstream.seen[0]?.body, 'abcde');
    assert.deepEqual(upstream.seen[0]?.trailers, ['x-sum', '5']);
  });

  for (const version of ['--http1.1', '--http2']) {
    test(`eight megabytes go up and down (curl ${version})`, async () => {
      await using upstream = await startUpstream((_, response, body) => response.end(body, 'latin1'));
      await using gateway = await gatewayTo(upstream.port);
      const url = `https://app.test:${gateway.port}/`;
      const { stdout } = await promisify(execFile)('sh', [
        '-c',
        `head -c 8388608 /dev/zero | curl -sk ${version} --resolve app.test:${gateway.port}:127.0.0.1 -T - ${url} | wc -c`,
      ]);
      assert.equal(Number(stdout), 8_388_608);
      assert.equal(upstream.seen[0]?.body.length, 8_388_608);
    });
  }

  test('the upstream sets the pace of an upload', async () => {
    await using upstream = await startRawUpstream((socket) => void socket.pause());
    await using gateway = await gatewayTo(upstream.port);
    const socket = await connectClient(gateway.port);
    const size = 64 * 1024 * 1024;
    let sent = 0;
    const more = (): void => {
      while (sent < size) {
        sent += 65_536;
        if (!socket.write(Buffer.alloc(65_536))) return;
      }
    };
    socket.on('error', () => {}).on('drain', more);
    socket.write(`POST / HTTP/1.1\r\n${head}Content-Length: ${size}\r\n\r\n`);
    more();
    for (let before = -1; before !== sent; await sleep(250)) before = sent;
    assert.ok(sent < size / 2, `${sent} bytes have left the client`);
    socket.destroy();
  });
});

suite('Expect: 100-continue', async () => {
  const request = 'POST / HTTP/1.1\r\nHost: app.test\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n';

  test('the 100 of the upstream reaches the client, and then the body the upstream', async () => {
    await using upstream = await startRawUpstream((socket, text) => {
      if (text.startsWith('POST')) socket.write('HTTP/1.1 100 Continue\r\n\r\n');
      else socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${text.length}\r\n\r\n${text}`);
    });
    await using gateway = await gatewayTo(upstream.port);
    const socket = await connectClient(gateway.port);
    socket.write(request);
    const [first] = await once(socket, 'data');
    assert.equal(String(first), 'HTTP/1.1 100 Continue\r\n\r\n');
    assert.match(upstream.received, /Expect: 100-continue/);
    socket.write('abc');
    const [second] = await once(socket, 'data');
    assert.match(String(second), /^HTTP\/1\.1 200 OK[^]*abc$/);
    socket.destroy();
  });

  test('a refusal of the upstream comes instead, and no body is waited for', async () => {
    await using upstream = await startRawUpstream((socket) => {
      socket.write('HTTP/1.1 413 Too Large\r\nContent-Length: 2\r\n\r\nno');
    });
    await using gateway = await gatewayTo(upstream.port);
    const answer = await sendRaw(gateway.port, request);
    assert.equal(answer.status, 413);
    assert.equal(answer.headers['connection'], 'close');
  });

  test('an upstream that does not answer 100 gets the body anyway', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    const raw = await startRawUpstream((socket, text) => {
      if (text.endsWith('abc')) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok');
    });
    await using _ = raw;
    await gateway.set(backendEntry('b', raw.port));
    const socket = await connectClient(gateway.port);
    socket.write(request);
    const [first] = await once(socket, 'data');
    assert.match(String(first), /^HTTP\/1\.1 100 /);
    socket.write('abc');
    const [second] = await once(socket, 'data');
    assert.match(String(second), /ok$/);
    socket.destroy();
  });

  test('our own refusal comes before any body', async () => {
    await using gateway = await startGateway([edgeEntry('e', ['app.test'], [])]);
    const answer = await sendRaw(gateway.port, request);
    assert.equal(answer.status, 404);
  });

  test('over HTTP/2', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    const session = openHttp2(gateway.port);
    const answer = await requestHttp2(session, { ':path': '/', ':method': 'POST', expect: '100-continue' }, 'abc');
    session.close();
    assert.equal(answer.body, 'POST / abc');
  });
});

interface AnswerCase {
  readonly name: string;
  readonly method?: string;
  readonly upstream: string;
  readonly close?: boolean;
  readonly status: number;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

const answers: readonly AnswerCase[] = [
  {
    name: 'of known length',
    upstream: 'HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc',
    status: 200,
    body: 'abc',
    headers: { 'content-length': '3' },
  },
  {
    name: 'in chunks',
    upstream: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3;x\r\nabc\r\n1\r\nd\r\n0\r\n\r\n',
    status: 200,
    body: 'abcd',
  },
  { name: 'until close', upstream: 'HTTP/1.1 200 OK\r\n\r\nabc', close: true, status: 200, body: 'abc' },
  { name: 'of HTTP/1.0', upstream: 'HTTP/1.0 200 OK\r\n\r\nabc', close: true, status: 200, body: 'abc' },
  { name: 'without a reason', upstream: 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', status: 200, body: '' },
  {
    name: '204',
    upstream: 'HTTP/1.1 204 No Content\r\n\r\n',
    status: 204,
    body: '',
    headers: { 'content-length': undefined, 'transfer-encoding': undefined },
  },
  {
    name: '304 with the length of what it stands for',
    upstream: 'HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nETag: "a"\r\n\r\n',
    status: 304,
    body: '',
    headers: { etag: '"a"' },
  },
  {
    name: 'to HEAD',
    method: 'HEAD',
    upstream: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n',
    status: 200,
    body: '',
    headers: { 'content-length': '5' },
  },
  {
    name: 'to HEAD, chunked',
    method: 'HEAD',
    upstream: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n',
    status: 200,
    body: '',
  },
];

suite('answers', async () => {
  for (const { name, method = 'GET', upstream: bytes, close, status, body, headers = {} } of answers) {
    for (const split of [false, true]) {
      test(`${name}${split ? ', byte by byte' : ''}`, async () => {
        await using upstream = await startRawUpstream((socket) => void sendBytes(socket, bytes, split, close === true));
        await using gateway = await gatewayTo(upstream.port);
        const first = await sendRaw(gateway.port, get('/').replace('GET', method));
        assert.equal(first.status, status, first.text);
        assert.equal(dechunk(first.headers, first.body), body);
        for (const [header, value] of Object.entries(headers)) assert.equal(first.headers[header], value);
        const session = openHttp2(gateway.port);
        const second = await requestHttp2(session, { ':path': '/', ':method': method });
        session.close();
        assert.equal(second.status, status);
        assert.equal(second.body, body);
        for (const [header, value] of Object.entries(headers)) assert.equal(second.headers[header], value);
        assert.equal(upstream.connections, close === true ? 2 : 1, 'connections to the upstream');
      });
    }
  }

  test('with trailers', async () => {
    const bytes =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 3\r\nSet-Cookie: a=1\r\n\r\n';
    await using upstream = await startRawUpstream((socket) => void socket.write(bytes));
    await using gateway = await gatewayTo(upstream.port);
    const first = await sendRaw(gateway.port, get('/', 'TE: trailers'));
    assert.match(first.body, /\r\n0\r\nX-Sum: 3\r\n\r\n$/);
    assert.match(upstream.received, /TE: trailers\r\nConnection: TE\r\n/);
    const session = openHttp2(gateway.port);
    const second = await requestHttp2(session, { ':path': '/' });
    session.close();
    assert.equal(second.trailers['x-sum'], '3');
    assert.equal(second.trailers['set-cookie'], undefined);
  });

  test('with early hints', async () => {
    const hints = 'HTTP/1.1 103 Early Hints\r\nLink: </a.css>; rel=preload\r\n\r\n';
    await using upstream = await startRawUpstream(
      (socket) => void socket.write(`${hints}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok`),
    );
    await using gateway = await gatewayTo(upstream.port);
    const { text } = await sendRaw(gateway.port, get('/'));
    assert.ok(text.startsWith(`${hints}HTTP/1.1 200 OK\r\n`), text);
    const old = await sendRaw(gateway.port, 'GET / HTTP/1.0\r\nHost: app.test\r\n\r\n');
    assert.equal(old.status, 200);
    const session = openHttp2(gateway.port);
    const second = await requestHttp2(session, { ':path': '/' });
    session.close();
    assert.deepEqual(second.interims, [103]);
    assert.equal(second.body, 'ok');
  });

  test('the client sets the pace of a download', async () => {
    let sent = 0;
    const size = 64 * 1024 * 1024;
    await using upstream = await startRawUpstream((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${size}\r\n\r\n`);
      const more = (): void => {
        while (sent < size) {
          sent += 65_536;
          if (!socket.write(Buffer.alloc(65_536))) return;
        }
      };
      socket.on('drain', more);
      more();
    });
    await using gateway = await gatewayTo(upstream.port);
    const socket = await connectClient(gateway.port);
    socket.write(get('/'));
    await once(socket, 'readable');
    for (let before = -1; before !== sent; await sleep(150)) before = sent;
    assert.ok(sent < size / 2, `${sent} bytes have left the upstream`);
    const answer = parseAnswer(await readAll(socket));
    assert.equal(answer.body.length, size);
  });
});

test('a client that leaves takes its upstream request with it', async () => {
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  await using upstream = await startRawUpstream((socket) => {
    socket.on('close', () => {
      resolve();
    });
  });
  await using gateway = await gatewayTo(upstream.port);
  const socket = await connectClient(gateway.port);
  socket.write(get('/'));
  while (upstream.received === '') await sleep(5);
  socket.destroy();
  await closed;
  assert.equal(gateway.answered[0]?.status, 499);
});

async function sendBytes(
  socket: import('node:net').Socket,
  bytes: string,
  split: boolean,
  close: boolean,
): Promise<void> {
  socket.setNoDelay(true);
  if (!split) socket.write(bytes, 'latin1');
  for (const byte of split ? bytes : '') {
    socket.write(byte, 'latin1');
    await new Promise(setImmediate);
  }
  if (close) socket.end();
}

function dechunk(headers: Readonly<Record<string, string>>, body: string): string {
  if (headers['transfer-encoding'] !== 'chunked') return body;
  let text = '';
  for (let at = 0; at < body.length;) {
    const end = body.indexOf('\r\n', at);
    const size = Number.parseInt(body.slice(at, end), 16);
    text += body.slice(end + 2, end + 2 + size);
    at = end + 2 + size + 2;
  }
  return text;
}
