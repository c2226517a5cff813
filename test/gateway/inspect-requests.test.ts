import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipSync } from 'node:zlib';

import { keptBodyBytes } from '../../src/gateway/https/inspect-requests.ts';
import { connectClient, get, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import type { TestGateway } from './support/https-gateway.ts';
import { startRawUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

const hourMs = 3_600_000;

/** Two edges, of one account and of another, before one program. */
async function gatewayTo(port: number): Promise<TestGateway> {
  return startGateway([
    backendEntry('b', port),
    backendEntry('c', port, { accountId: 'acc_2' }),
    edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))]),
    { ...edgeEntry('f', ['other.test'], [prefixRoute('/', toBackend('c'))]), accountId: 'acc_2' },
  ]);
}

const terms = (over: object = {}) => ({
  id: 'insp_1',
  accountId: 'acc_1',
  subjectId: 'e',
  endsAtMs: Date.now() + hourMs,
  ...over,
});
const post = (path: string, body: string, ...lines: readonly string[]): string =>
  [
    `POST ${path} HTTP/1.1`,
    'Host: app.test',
    'Connection: close',
    `Content-Length: ${body.length}`,
    ...lines,
    '',
    body,
  ].join('\r\n');
const answering = (answer: string) =>
  startRawUpstream((socket, received) => {
    if (received.includes('\r\n\r\n')) socket.end(answer, 'latin1');
  });
const ok = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';

test('requests of what is inspected are recorded with their answers, and no secret is among them', async () => {
  await using upstream = await answering(
    'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\nSet-Cookie: sid=hunter2; Path=/\r\nTransfer-Encoding: chunked\r\n\r\n12\r\n{"token":"hunter2"\r\n1\r\n}\r\n0\r\n\r\n',
  );
  await using gateway = await gatewayTo(upstream.port);
  await sendRaw(gateway.port, post('/before', '{}'));
  gateway.inspect([terms()]);
  await sendRaw(
    gateway.port,
    post(
      '/hooks?api_key=hunter2',
      '{"password":"hunter2","n":1}',
      'Authorization: Bearer hunter2',
      'Cookie: a=hunter2',
      'X-One: 1',
    ),
  );
  await until(() => gateway.inspected.length === 1, 'recorded');
  const [record] = gateway.inspected;
  assert.ok(!JSON.stringify(record).includes('hunter2'), JSON.stringify(record));
  const { inspectionId, accountId, edgeId, method, target, source, request, answer, isWhole, leftOut } =
    record ?? assert.fail();
  assert.deepEqual(
    [inspectionId, accountId, edgeId, method, target, source],
    ['insp_1', 'acc_1', 'e', 'POST', '/hooks?api_key=[masked]', '127.0.0.1'],
  );
  assert.deepEqual([request.body, request.bodyBytes, request.isBodyWhole], ['{"password":"[masked]","n":1}', 28, true]);
  assert.deepEqual(request.headers.slice(-6), [
    'Authorization',
    'Bearer [masked]',
    'Cookie',
    'a=[masked]',
    'X-One',
    '1',
  ]);
  assert.deepEqual([answer?.status, answer?.body, isWhole, leftOut], [201, '{"token":"[masked]"}', true, 0]);
  assert.ok(answer?.headers.includes('sid=[masked]; Path=/'));
  gateway.inspect([]);
  await sendRaw(gateway.port, post('/after', '{}'));
  await until(() => gateway.answered.length === 3, 'answered');
  assert.equal(gateway.inspected.length, 1);
});

test('nothing of another account is recorded, whatever is asked for', async () => {
  await using upstream = await answering(ok);
  await using gateway = await gatewayTo(upstream.port);
  gateway.inspect([terms({ subjectId: 'f' }), terms({ id: 'insp_2', subjectId: 'b' })]);
  await sendRaw(gateway.port, get('/a').replace('app.test', 'other.test'), { servername: 'other.test' });
  await sendRaw(gateway.port, get('/a'));
  await until(() => gateway.answered.length === 2, 'answered');
  assert.deepEqual(
    gateway.answered.map(({ status }) => status),
    [200, 200],
  );
  assert.deepEqual(gateway.inspected, []);
});

test('of an inspection whose end passes, or that is ended, while a request is open, nothing is told', async () => {
  await using upstream = await startRawUpstream((socket, received) => {
    if (received.includes('GET /b ')) socket.end(ok);
  });
  await using gateway = await gatewayTo(upstream.port);
  const over = terms({ endsAtMs: Date.now() + 300 });
  gateway.inspect([over]);
  const open = await connectClient(gateway.port);
  open.write(get('/a'));
  await until(() => upstream.connections > 0 || Date.now() >= over.endsAtMs, 'open');
  await until(() => Date.now() >= over.endsAtMs, 'its end has passed');
  open.destroy();
  await until(() => gateway.answered.length === 1, 'over');
  await sendRaw(gateway.port, get('/b'));
  await until(() => gateway.answered.length === 2, 'answered');
  assert.deepEqual(gateway.inspected, []);
});

test('of bodies the start is kept, of compressed ones the text, and of others none', async () => {
  const packed = gzipSync('{"secret":"hunter2","a":"b"}').toString('latin1');
  await using upstream = await answering(
    `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${packed.length}\r\n\r\n${packed}`,
  );
  await using gateway = await gatewayTo(upstream.port);
  gateway.inspect([terms()]);
  await sendRaw(gateway.port, post('/long', `${'x y '.repeat(20_000)}\0`));
  await sendRaw(gateway.port, post('/binary', 'a\0b'));
  await until(() => gateway.inspected.length === 2, 'recorded');
  const [long, binary] = gateway.inspected;
  assert.deepEqual(
    [long?.request.body?.length, long?.request.bodyBytes, long?.request.isBodyWhole],
    [keptBodyBytes, 80_001, false],
  );
  assert.equal(long?.answer?.body, '{"secret":"[masked]","a":"b"}');
  assert.deepEqual([binary?.request.body, binary?.request.bodyBytes], [undefined, 3]);
});

test('of very many at once some are recorded, and the rest are counted', async () => {
  await using upstream = await startRawUpstream((socket) => {
    socket.write(ok);
  });
  await using gateway = await gatewayTo(upstream.port);
  gateway.inspect([terms()]);
  const client = await connectClient(gateway.port);
  client.on('data', () => {});
  const rounds = 300;
  client.write(`GET /a HTTP/1.1\r\nHost: app.test\r\n\r\n`.repeat(rounds));
  await until(() => gateway.answered.length >= rounds, 'answered');
  client.destroy();
  const told = gateway.inspected.length;
  const leftOut = gateway.inspected.reduce((sum, each) => sum + each.leftOut, 0);
  assert.ok(told >= 1 && told < rounds && leftOut <= rounds - told, `${told} ${leftOut}`);
});

test('an upgrade is recorded when it is made, and a request whose backend gives no answer without one', async () => {
  await using upstream = await startRawUpstream((socket, received) => {
    if (received.includes('GET /ws'))
      socket.write('HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n');
    else socket.destroy();
  });
  await using gateway = await gatewayTo(upstream.port);
  gateway.inspect([terms()]);
  const client = await connectClient(gateway.port);
  client.write(
    'GET /ws HTTP/1.1\r\nHost: app.test\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n',
  );
  await until(() => gateway.inspected.length === 1, 'recorded');
  assert.equal(gateway.inspected[0]?.answer?.status, 101);
  client.destroy();
  await sendRaw(gateway.port, get('/broken'));
  await until(() => gateway.inspected.length === 2, 'recorded');
  assert.deepEqual([gateway.inspected[1]?.answer, gateway.inspected[1]?.isWhole], [undefined, false]);
});
