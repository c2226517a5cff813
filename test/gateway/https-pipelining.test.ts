import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { connectClient, get, readAll, sendRaw } from './support/https-client.ts';
import {
  allowPolicy,
  backendEntry,
  edgeEntry,
  ipRestriction,
  prefixRoute,
  toBackend,
} from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { GatewaySettings } from './support/https-gateway.ts';
import { startRawUpstream, startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

function gatewayTo(port: number, settings: GatewaySettings = {}) {
  const nobody = { ...toBackend('bkdsc_1'), ...ipRestriction('ipp_nobody') };
  const routes = [prefixRoute('/', toBackend('bkdsc_1')), prefixRoute('/refused', nobody)];
  return startGateway(
    [backendEntry('bkdsc_1', port), allowPolicy('ipp_nobody', '10.0.0.0/8'), edgeEntry('edg_1', ['app.test'], routes)],
    settings,
  );
}

const host = 'Host: app.test\r\n';

function pipelined(count: number, first = 0): string {
  return Array.from({ length: count }, (_, at) => `GET /${first + at} HTTP/1.1\r\n${host}\r\n`).join('');
}

/** The bodies of answers that an echoing upstream has given. */
function echoes(text: string): readonly string[] {
  return [...text.matchAll(/\r\n\r\n(?:[0-9a-f]+\r\n)?([A-Z]+ \/[^\s]*)/g)].map(([, echo = '']) => echo);
}

function gets(count: number): readonly string[] {
  return Array.from({ length: count }, (_, at) => `GET /${at}`);
}

test('8,000 pipelined requests of one client are one request at a silent upstream, and others are served', async () => {
  await using upstream = await startUpstream((request, response) => {
    if (request.url === '/other') response.end('served');
  });
  await using gateway = await gatewayTo(upstream.port);
  const socket = await connectClient(gateway.port);
  socket.on('error', () => {});
  socket.write(pipelined(8000));
  await until(() => upstream.seen.length > 0, 'the first request has arrived');
  for (let at = 0; at < 5; at++) assert.equal((await sendRaw(gateway.port, get('/other'))).body, 'served');
  assert.deepEqual(
    upstream.seen.filter(({ url }) => url !== '/other').map(({ url }) => url),
    ['/0'],
  );
  assert.ok(upstream.connections <= 2, `${upstream.connections} connections`);
  socket.destroy();
});

test('a request that is sent while another is under way waits for its answer', async () => {
  const held: (() => void)[] = [];
  await using upstream = await startUpstream((request, response) => {
    held.push(() => response.end(`GET ${request.url}\n`));
  });
  await using gateway = await gatewayTo(upstream.port);
  const socket = await connectClient(gateway.port);
  const all = readAll(socket);
  for (const at of [0, 1]) {
    socket.write(pipelined(1, at));
    await sleep(100);
  }
  socket.write(get('/2'));
  for (const count of [1, 2, 3]) {
    await until(() => held.length === count, `number ${count} has arrived`);
    await sleep(100);
    assert.equal(held.length, count);
    held.at(-1)?.();
  }
  assert.deepEqual(echoes(await all), gets(3));
});

test('a request that waits stays as it was sent, whatever others send meanwhile', async () => {
  const held: (() => void)[] = [];
  await using upstream = await startUpstream((request, response) => {
    if (request.url?.startsWith('/other') === true) response.end('served');
    else held.push(() => response.end(`GET ${request.url}\n`));
  });
  await using gateway = await gatewayTo(upstream.port);
  const socket = await connectClient(gateway.port);
  const all = readAll(socket);
  socket.write(pipelined(1) + get('/1'));
  await until(() => held.length === 1, 'the first has arrived');
  const others = get(`/other?${'x'.repeat(4000)}`);
  for (let at = 0; at < 5; at++) assert.equal((await sendRaw(gateway.port, others)).body, 'served');
  held[0]?.();
  await until(() => held.length === 2, 'the second has arrived');
  held[1]?.();
  assert.deepEqual(echoes(await all), gets(2));
});

test('requests that wait are not read without end: the client has to wait too', async () => {
  await using upstream = await startUpstream(() => {});
  await using gateway = await gatewayTo(upstream.port);
  const socket = await connectClient(gateway.port);
  socket.on('error', () => {});
  const request = `GET / HTTP/1.1\r\n${host}X-Long: ${'x'.repeat(8000)}\r\n\r\n`;
  for (let at = 0; at < 40; at++) socket.write(request.repeat(100));
  await until(() => upstream.seen.length === 1, 'the first request has arrived');
  let left: number;
  do {
    left = socket.writableLength;
    await sleep(1000);
  } while (left > socket.writableLength);
  // The systems at both ends hold a few megabytes.
  assert.ok(socket.writableLength > 16_000_000, `${socket.writableLength} bytes wait at the client`);
  socket.destroy();
});

test('a client that reads no answers gets no more of them than the systems at both ends hold', async () => {
  await using upstream = await startUpstream((_request, response) => response.end(Buffer.alloc(16_000)));
  await using gateway = await gatewayTo(upstream.port);
  const socket = await connectClient(gateway.port);
  socket.on('error', () => {}).write(pipelined(4000));
  let answered: number;
  do {
    answered = upstream.seen.length;
    await sleep(1000);
  } while (answered < upstream.seen.length);
  // 64 MB in all, where a few megabytes are held.
  assert.ok(answered > 0 && answered < 2500, `${answered} requests were carried out`);
  socket.destroy();
});

test('a client that leaves while its requests wait is noticed', async () => {
  await using upstream = await startRawUpstream(() => {});
  await using gateway = await gatewayTo(upstream.port);
  const socket = await connectClient(gateway.port);
  socket.write(pipelined(10));
  await until(() => upstream.open === 1, 'the first request has arrived');
  socket.destroy();
  await until(() => upstream.open === 0, 'the upstream is left alone');
  assert.equal(upstream.connections, 1);
});

suite('a client that pipelines', { concurrency: true }, () => {
  test('gets thousands of answers in the order of its requests, over one upstream connection at a time', async () => {
    let underWay = 0;
    let most = 0;
    await using upstream = await startUpstream((request, response) => {
      most = Math.max(most, ++underWay);
      setImmediate(() => {
        underWay--;
        response.end(`${request.method} ${request.url}\n`);
      });
    });
    await using gateway = await gatewayTo(upstream.port);
    const socket = await connectClient(gateway.port);
    const all = readAll(socket);
    socket.write(`${pipelined(1499)}${get('/1499')}`);
    assert.deepEqual(echoes(await all), gets(1500));
    assert.equal(most, 1);
  });

  test('gets them when its requests come in pieces, and when it waits between them', async () => {
    await using upstream = await startUpstream();
    await using gateway = await gatewayTo(upstream.port);
    const socket = await connectClient(gateway.port);
    const all = readAll(socket);
    const text = pipelined(60);
    for (let at = 0; at < text.length; at += 97) {
      socket.write(text.slice(at, at + 97));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    socket.write(get('/60'));
    assert.deepEqual(echoes(await all), gets(61));
  });

  test('can send bodies, of known and of unknown length, longer than what is read at once', async () => {
    await using upstream = await startUpstream((request, response, body) => {
      response.end(`${request.method} ${request.url} ${body.length}\n`);
    });
    await using gateway = await gatewayTo(upstream.port);
    const body = 'x'.repeat(300_000);
    const known = `POST /known HTTP/1.1\r\n${host}Content-Length: ${body.length}\r\n\r\n${body}`;
    const size = body.length.toString(16);
    const chunked = `POST /chunked HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n${size}\r\n${body}\r\n0\r\n\r\n`;
    const socket = await connectClient(gateway.port);
    const all = readAll(socket);
    socket.write(`${known}${chunked}${pipelined(1)}${known}${chunked}${get('/end')}`);
    const answers = [...(await all).matchAll(/(?:POST|GET) \/\w+ \d+/g)].map(([answer]) => answer);
    const posts = ['POST /known 300000', 'POST /chunked 300000'];
    assert.deepEqual(answers, [...posts, 'GET /0 0', ...posts, 'GET /end 0']);
  });

  test('is not cut off for a head that nobody reads while an upstream takes its time', async () => {
    await using upstream = await startUpstream((request, response) => {
      if (request.url === '/0') setTimeout(() => response.end('GET /0\n'), 3000);
      else response.end(`GET ${request.url}\n`);
    });
    await using gateway = await gatewayTo(upstream.port, { timeouts: { headersMs: 1500 } });
    const socket = await connectClient(gateway.port);
    const all = readAll(socket);
    socket.write(`${pipelined(2499)}${get('/2499')}`);
    assert.deepEqual(echoes(await all), gets(2500));
  });

  test('is closed in time when the head after its requests stays incomplete', async () => {
    await using upstream = await startUpstream((_, response) => void setTimeout(() => response.end('late'), 1600));
    await using gateway = await gatewayTo(upstream.port, { timeouts: { headersMs: 1500, keepAliveMs: 60_000 } });
    const socket = await connectClient(gateway.port);
    const all = readAll(socket);
    socket.write(`${pipelined(2)}GET /never HTTP/1.1\r\n`);
    const text = await all;
    assert.equal(text.match(/late/g)?.length ?? 0, 2);
    assert.deepEqual(
      upstream.seen.map(({ url }) => url),
      ['/0', '/1'],
    );
  });
});

for (const [name, request] of [
  ['expects a 100', `POST /first HTTP/1.1\r\n${host}Expect: 100-continue\r\nContent-Length: 2\r\n\r\nhi`],
  ['cannot be told the length', `GET /first HTTP/1.0\r\n${host}Connection: keep-alive\r\n\r\n`],
  ['asks for the close', `GET /first HTTP/1.1\r\n${host}Connection: foo, close\r\n\r\n`],
  ['asks for another protocol', `GET /first HTTP/1.1\r\n${host}Upgrade: x\r\nConnection: upgrade\r\n\r\n`],
] as const) {
  test(`a request is never carried out behind an answer that closes the connection, where the client ${name}`, async () => {
    await using upstream = await startUpstream((_request, response) => {
      // Without a length.
      response.write('an ');
      setImmediate(() => response.end('answer'));
    });
    await using gateway = await gatewayTo(upstream.port);
    const socket = await connectClient(gateway.port);
    socket.write(`${request}GET /second HTTP/1.1\r\n${host}\r\n`);
    assert.match(await readAll(socket), /\r\nConnection: close\r\n/);
    assert.deepEqual(
      upstream.seen.map(({ url }) => url),
      ['/first'],
    );
  });
}

test('a request that waits behind one whose answer closes the connection is never carried out', async () => {
  await using upstream = await startUpstream((request, response) => {
    setTimeout(() => response.end(`GET ${request.url}\n`), 100);
  });
  await using gateway = await gatewayTo(upstream.port);
  const refused = `POST /refused HTTP/1.1\r\n${host}Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n`;
  const after = `POST /after HTTP/1.1\r\n${host}Content-Length: 2\r\n\r\nhi`;
  const { text } = await sendRaw(gateway.port, `${pipelined(2)}${refused}${after.repeat(3000)}`);
  assert.deepEqual(
    [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status),
    ['200', '200', '403'],
  );
  assert.match(text, /Connection: close/);
  assert.deepEqual(
    upstream.seen.map(({ url }) => url),
    ['/0', '/1'],
  );
});
