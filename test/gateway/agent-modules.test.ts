import assert from 'node:assert/strict';
import { test } from 'node:test';

import { basicAuth } from '../../src/modules/basic-auth/index.ts';
import type { ModuleSettings } from '../../src/snapshot/contract.ts';
import { connectClient, get, sendRaw } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startRawUpstream, startUpstream } from './support/https-upstream.ts';
import { until } from './support/tcp-engine.ts';

const errorCode = 'gatehouse-error-code';

function edgeWith(modules: ModuleSettings) {
  return edgeEntry('ep_1', ['app.test'], [prefixRoute('/', { ...toBackend('b'), ...modules })]);
}

function authentication(password: string): ModuleSettings {
  return { basic_auth: basicAuth.accept({ credentials: [{ username: 'ada', password }] }) };
}

function authorization(password: string): string {
  return `Authorization: Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;
}

test('an endpoint with basic authentication asks for it, and its upstream sees only who has it', async () => {
  await using upstream = await startUpstream();
  await using gateway = await startGateway([backendEntry('b', upstream.port), edgeWith(authentication('p'))]);
  const asked = await sendRaw(gateway.port, get('/'));
  assert.deepEqual([asked.status, asked.headers[errorCode]], [401, 'ERR_GATEHOUSE_20151']);
  assert.match(asked.headers['www-authenticate'] ?? '', /^Basic /);
  assert.equal((await sendRaw(gateway.port, get('/', authorization('wrong')))).status, 401);
  assert.equal((await sendRaw(gateway.port, get('/', authorization('p')))).status, 200);
  assert.equal(upstream.seen.length, 1);
});

test('an upgraded connection is closed when its credentials are not those of the endpoint any more', async () => {
  await using upstream = await startRawUpstream((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nup');
  });
  await using gateway = await startGateway([backendEntry('b', upstream.port), edgeWith(authentication('p'))]);
  const client = await connectClient(gateway.port);
  let text = '';
  client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).on('error', () => {});
  client.write(
    `GET / HTTP/1.1\r\nHost: app.test\r\n${authorization('p')}\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\n`,
  );
  await until(() => text.endsWith('up'), 'the upgrade');
  await gateway.set(edgeWith({ ...authentication('p'), compression: { enabled: true } }));
  assert.equal(client.destroyed, false);
  await gateway.set(edgeWith(authentication('new')));
  await until(() => client.destroyed, 'it is closed');
});

test('an endpoint refuses by user agent and by its own CIDRs', async () => {
  await using upstream = await startUpstream();
  const filter = { user_agent_filter: { enabled: true, allow: [], deny: ['^curl/'] } };
  await using gateway = await startGateway([backendEntry('b', upstream.port), edgeWith(filter)]);
  const refused = await sendRaw(gateway.port, get('/', 'User-Agent: curl/8'));
  assert.deepEqual([refused.status, refused.headers[errorCode]], [403, 'ERR_GATEHOUSE_20152']);
  assert.equal((await sendRaw(gateway.port, get('/', 'User-Agent: x'))).status, 200);
  await gateway.set(edgeWith({ cidr_restriction: { enabled: true, allow: ['127.0.0.0/8'], deny: ['127.0.0.2/32'] } }));
  assert.equal((await sendRaw(gateway.port, get('/'))).status, 200);
  const denied = await sendRaw(gateway.port, get('/'), { localAddress: '127.0.0.2' });
  assert.deepEqual([denied.status, denied.headers[errorCode]], [403, 'ERR_GATEHOUSE_3203']);
});

test('an endpoint whose upstream fails is spared, whether it answers or not', async () => {
  for (const answer of ['HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n', 'not HTTP\r\n\r\n']) {
    await using upstream = await startRawUpstream((socket) => void socket.end(answer));
    const modules = { circuit_breaker: { enabled: true, error_threshold: 0.5 } };
    await using gateway = await startGateway([backendEntry('b', upstream.port), edgeWith(modules)]);
    for (let round = 0; round < 10; round++) assert.ok((await sendRaw(gateway.port, get('/'))).status >= 500);
    const { connections } = upstream;
    const spared = await sendRaw(gateway.port, get('/'));
    assert.deepEqual([spared.status, spared.headers[errorCode]], [503, 'ERR_GATEHOUSE_20153']);
    assert.equal(upstream.connections, connections);
  }
});

test('an endpoint whose upstream has recovered is served again after one upgrade', async (t) => {
  const realNow = performance.now.bind(performance);
  let movedMs = 0;
  t.mock.method(performance, 'now', () => realNow() + movedMs);
  const switching = 'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
  const closeFrame = '\x88\x80\0\0\0\0';
  const webSocket = `GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n${closeFrame}`;
  const gone = await startRawUpstream(() => {});
  await gone[Symbol.asyncDispose]();
  await using upstream = await startRawUpstream((socket) => void socket.end(switching));
  const circuit_breaker = { enabled: true, error_threshold: 0.5 };
  for (const modules of [{}, { websocket_tcp_converter: { enabled: true } }]) {
    const edge = edgeWith({ circuit_breaker, ...modules });
    await using gateway = await startGateway([backendEntry('b', gone.port), edge]);
    const statuses = async (count: number): Promise<readonly number[]> => {
      const found: number[] = [];
      while (found.length < count) found.push((await sendRaw(gateway.port, webSocket)).status);
      return found;
    };
    assert.deepEqual(await statuses(12), [...Array<number>(10).fill(502), 503, 503]);
    await gateway.set(backendEntry('b', upstream.port));
    movedMs += 10_000;
    assert.deepEqual(await statuses(3), [101, 101, 101]);
  }
});
