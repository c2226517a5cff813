import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:http2';
import type { Socket } from 'node:net';
import { suite, test } from 'node:test';
import type { TLSSocket } from 'node:tls';

import { edgeCertificate } from './support/https-certificate.ts';
import { connectClient, get, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startRawUpstream, startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

/** Small pieces that one client sends: far more than its share. */
const pieces = 6000;

function gatewayTo(upstream: number, neighbour: number) {
  return startGateway([
    backendEntry('b', upstream),
    backendEntry('n', neighbour),
    edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b')), prefixRoute('/neighbour', toBackend('n'))]),
  ]);
}

/** Writes each byte in a TLS record of its own. */
function writeBytes(socket: TLSSocket, count: number): void {
  socket.setNoDelay();
  socket.cork();
  socket.uncork();
  for (let at = 0; at < count; at++) socket.write('x');
}

/** Each way to send a body in single bytes; resolves when all of it was handed to the system. */
const bodies: Readonly<Record<string, (port: number) => Promise<() => void>>> = {
  'chunks of one byte': async (port) => {
    const socket = await connectClient(port);
    socket.on('error', () => {});
    socket.write('POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n');
    socket.write('1\r\nx\r\n'.repeat(pieces));
    return () => socket.write('0\r\n\r\n');
  },
  'TLS records of one byte': async (port) => {
    const socket = await connectClient(port);
    socket.on('error', () => {});
    socket.write(`POST / HTTP/1.1\r\nHost: app.test\r\nContent-Length: ${pieces + 1}\r\n\r\n`);
    writeBytes(socket, pieces);
    return () => socket.write('x');
  },
  'frames of HTTP/2 of one byte': async (port) => {
    const session = connect(`https://127.0.0.1:${port}`, {
      servername: 'app.test',
      ca: edgeCertificate.certificate,
      settings: { enablePush: false },
    });
    session.on('error', () => {});
    const stream = session.request({ ':method': 'POST', ':path': '/', ':authority': 'app.test' });
    stream.on('error', () => {}).resume();
    for (let at = 0; at < pieces; at++) {
      stream.write('x');
      // Each write is a frame if it goes out before the next.
      if (at % 50 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    return () => {
      stream.end();
      stream.on('close', () => session.close());
    };
  },
};

suite('a body in single bytes', async () => {
  for (const [name, send] of Object.entries(bodies)) {
    test(`${name}: it arrives whole, in few pieces, and others are served meanwhile`, async () => {
      let arrived = 0;
      let reads = 0;
      let isOver = false;
      await using upstream = await startRawUpstream((socket: Socket, text) => {
        reads += 1;
        arrived += text.match(/x/g)?.length ?? 0;
        if (isOver && arrived >= pieces) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
      });
      await using neighbour = await startUpstream((_, response) => response.end('served'));
      await using gateway = await gatewayTo(upstream.port, neighbour.port);
      const finish = await send(gateway.port);
      for (let at = 0; at < 5; at++) assert.equal((await sendRaw(gateway.port, get('/neighbour'))).body, 'served');
      await until(() => arrived >= pieces, 'all of it has arrived');
      assert.ok(reads < pieces / 4, `${reads} pieces for the upstream`);
      isOver = true;
      finish();
      await until(() => gateway.answered.some(({ status }) => status === 200), 'it is answered');
    });
  }
});

test('messages of a WebSocket whose every byte has a TLS record reach a program without HTTP in few pieces', async () => {
  let arrived = 0;
  let reads = 0;
  await using program = await startRawUpstream((_, text) => {
    reads += 1;
    arrived += text.length;
  });
  await using neighbour = await startUpstream((_, response) => response.end('served'));
  const converted = { ...toBackend('b'), websocket_tcp_converter: { enabled: true } };
  await using gateway = await startGateway([
    backendEntry('b', program.port),
    backendEntry('n', neighbour.port),
    edgeEntry('e', ['app.test'], [prefixRoute('/', converted), prefixRoute('/neighbour', toBackend('n'))]),
  ]);
  const socket = await connectClient(gateway.port);
  const upgrade = 'Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n';
  socket.write(`GET / HTTP/1.1\r\nHost: app.test\r\n${upgrade}Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`);
  await once(socket, 'data');
  // One masked message, of 6,000 bytes.
  socket.write(Buffer.from([0x82, 0xfe, pieces >> 8, pieces & 255, 0, 0, 0, 0]));
  writeBytes(socket, pieces);
  for (let at = 0; at < 5; at++) assert.equal((await sendRaw(gateway.port, get('/neighbour'))).body, 'served');
  await until(() => arrived === pieces, 'all of it has arrived');
  assert.ok(reads < pieces / 4, `${reads} pieces for the program`);
  socket.destroy();
});

test('an answer in chunks of one byte reaches its client in few pieces', async () => {
  await using upstream = await startRawUpstream((socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(pieces)}0\r\n\r\n`);
  });
  await using gateway = await gatewayTo(upstream.port, upstream.port);
  const { text } = await sendRaw(gateway.port, get('/'));
  assert.equal(text.replaceAll(/[^x]/g, '').length >= pieces, true);
  assert.ok((text.match(/\r\n[0-9a-f]+\r\n/g)?.length ?? 0) < pieces / 20, 'chunks are joined');
});

test('a client that reads nothing is not read from without end, however small its pieces are', async () => {
  let upstreamSocket: Socket | undefined;
  await using upstream = await startRawUpstream((socket) => {
    upstreamSocket ??= socket.pause();
  });
  await using gateway = await gatewayTo(upstream.port, upstream.port);
  const socket = await connectClient(gateway.port);
  socket.on('error', () => {});
  socket.write('POST / HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\n\r\n');
  await until(() => upstreamSocket !== undefined, 'the head has arrived');
  const megabyte = Buffer.from('100\r\n'.concat('y'.repeat(256), '\r\n').repeat(4000));
  let written = 0;
  let isStuck = false;
  while (!isStuck && written < 60) {
    written += 1;
    isStuck = !socket.write(megabyte) && (await Promise.race([once(socket, 'drain').then(() => false), stuck()]));
  }
  assert.ok(isStuck, 'the client has to wait');
  socket.destroy();
});

function stuck(): Promise<boolean> {
  return new Promise((resolve) => setTimeout(() => resolve(true), 1500).unref());
}

test('hundreds of requests at once over HTTP/2 keep nobody else waiting until all have begun', async () => {
  const seen: string[] = [];
  await using upstream = await startUpstream((request, response) => {
    seen.push(String(request.url));
    response.end('ok');
  });
  await using gateway = await gatewayTo(upstream.port, upstream.port);
  const session = connect(`https://127.0.0.1:${gateway.port}`, {
    servername: 'app.test',
    ca: edgeCertificate.certificate,
  });
  await once(session, 'connect');
  const other = await connectClient(gateway.port);
  const streams = Array.from({ length: 90 }, (_, at) =>
    session.request({ ':path': `/many/${at}`, ':authority': 'app.test' }),
  );
  const ended = Promise.all(streams.map((stream) => once(stream.resume(), 'end')));
  await new Promise((resolve) => setImmediate(resolve));
  other.write(get('/neighbour'));
  await ended;
  await until(() => seen.length === 91, 'all have come');
  assert.ok(seen.indexOf('/neighbour') < 90, 'it does not come last');
  session.close();
});
