import assert from 'node:assert/strict';
import { once } from 'node:events';
import { constants } from 'node:http2';
import type { ClientHttp2Session } from 'node:http2';
import { suite, test } from 'node:test';

import { headersFrame, openFrames, resetFrame } from '../e2e/gateway/support/http2-frames.ts';
import { get, openHttp2, requestHttp2, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

function gatewayTo(port: number, streamResets: number) {
  const edge = edgeEntry('edg_1', ['app.test'], [prefixRoute('/', toBackend('bkdsc_1'))]);
  return startGateway([backendEntry('bkdsc_1', port), edge], { bounds: { streamResets } });
}

const fields = [
  [':method', 'GET'],
  [':scheme', 'https'],
  [':path', '/silent'],
  [':authority', 'app.test'],
] as const;

/** Requests that are taken back at once. */
function openedAndReset(count: number, firstId = 1): Buffer {
  const ids = Array.from({ length: count }, (_, at) => firstId + 2 * at);
  return Buffer.concat(ids.flatMap((id) => [headersFrame(fields, true, id), resetFrame(id)]));
}

/** Returns what the gateway sends until it closes. */
async function sendFrames(port: number, frames: Buffer): Promise<Buffer> {
  const socket = openFrames(port, 'app.test');
  const received: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => received.push(chunk));
  await once(socket, 'secureConnect');
  socket.write(frames);
  if (!socket.closed) await once(socket, 'close');
  return Buffer.concat(received);
}

/** The error codes of all GOAWAY frames. */
function goAwayCodes(bytes: Buffer): readonly number[] {
  const codes: number[] = [];
  for (let at = 0; at + 9 <= bytes.length; at += 9 + bytes.readUIntBE(at, 3)) {
    if (bytes[at + 3] === 7) codes.push(bytes.readUInt32BE(at + 13));
  }
  return codes;
}

async function cancelOne(session: ClientHttp2Session, path: string): Promise<void> {
  const stream = session.request({ ':path': path, ':authority': 'app.test' });
  stream.on('error', () => {});
  const closed = once(stream, 'close');
  if (path === '/begun') await once(stream, 'response');
  // The gateway must have it before it is cancelled.
  else await new Promise((resolve) => session.ping(resolve));
  stream.close(constants.NGHTTP2_CANCEL);
  await closed;
}

test('900 requests that are taken back at once reach no upstream, and end the connection', async () => {
  await using upstream = await startUpstream(() => {});
  await using gateway = await gatewayTo(upstream.port, 100);
  const received = await sendFrames(gateway.port, openedAndReset(900));
  assert.ok(goAwayCodes(received).includes(constants.NGHTTP2_ENHANCE_YOUR_CALM));
  assert.match(received.toString('latin1'), /GATEHOUSE_STREAM_RESETS/);
  assert.ok(upstream.connections <= 3, `${upstream.connections} connections`);
  await until(() => gateway.refused.stream_resets === 1, 'it is counted');
  const line = gateway.logged.find((each) => 'bound' in each.fields);
  assert.deepEqual(line?.fields, { bound: 'stream_resets', limit: 100, code: 20121, refused: 1, source: '127.0.0.1' });
});

test('20 connections with 900 such requests each cost few upstream connections, and others are served', async () => {
  await using upstream = await startUpstream((request, response) => {
    if (request.url === '/other') response.end('served');
  });
  await using gateway = await gatewayTo(upstream.port, 100);
  const attack = Promise.all(Array.from({ length: 20 }, () => sendFrames(gateway.port, openedAndReset(900))));
  for (let at = 0; at < 5; at++) assert.equal((await sendRaw(gateway.port, get('/other'))).body, 'served');
  await attack;
  assert.ok(upstream.connections <= 60, `${upstream.connections} connections`);
});

suite('a client that cancels requests now and then', () => {
  test('keeps its connection as long as there are fewer than the bound', async () => {
    await using upstream = await startUpstream((request, response) => {
      if (request.url === '/') response.end('served');
    });
    await using gateway = await gatewayTo(upstream.port, 100);
    const session = openHttp2(gateway.port);
    for (let at = 0; at < 90; at++) await cancelOne(session, '/silent');
    assert.equal((await requestHttp2(session, { ':path': '/' })).body, 'served');
    assert.equal(session.closed, false);
    session.destroy();
  });

  test('has more of them as time passes', async (t) => {
    await using upstream = await startUpstream((request, response) => {
      if (request.url === '/') response.end('served');
    });
    await using gateway = await gatewayTo(upstream.port, 100);
    const session = openHttp2(gateway.port);
    for (let at = 0; at < 60; at++) await cancelOne(session, '/silent');
    // Five are forgiven in a second.
    const now = performance.now.bind(performance);
    t.mock.method(performance, 'now', () => now() + 8500);
    for (let at = 0; at < 60; at++) await cancelOne(session, '/silent');
    assert.equal((await requestHttp2(session, { ':path': '/' })).body, 'served');
    session.destroy();
  });

  test('may cancel any number whose answer has begun', async () => {
    await using upstream = await startUpstream((request, response) => {
      if (request.url === '/begun') response.write('begun');
      else response.end('served');
    });
    await using gateway = await gatewayTo(upstream.port, 5);
    const session = openHttp2(gateway.port);
    for (let at = 0; at < 50; at++) await cancelOne(session, '/begun');
    assert.equal((await requestHttp2(session, { ':path': '/' })).body, 'served');
    session.destroy();
  });

  test('still gets the answers under way when it has cancelled too many', async () => {
    await using upstream = await startUpstream((request, response) => {
      if (request.url === '/slow') setTimeout(() => response.end('at last'), 500);
    });
    await using gateway = await gatewayTo(upstream.port, 5);
    const slow = fields.map(([name, value]) => [name, value === '/silent' ? '/slow' : value] as const);
    const received = await sendFrames(gateway.port, Buffer.concat([headersFrame(slow, true, 1), openedAndReset(6, 3)]));
    assert.deepEqual(goAwayCodes(received).slice(0, 1), [constants.NGHTTP2_ENHANCE_YOUR_CALM]);
    assert.match(received.toString('latin1'), /at last/);
  });
});
