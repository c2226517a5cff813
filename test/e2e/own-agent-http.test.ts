import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { createServer as createTlsServer, request } from 'node:https';
import type { Duplex } from 'node:stream';
import { connect } from 'node:tls';
import { after, before, test } from 'node:test';

import { portOf } from '../gateway/support/https-upstream.ts';
import { freePort } from '../support/free-port.ts';
import { makePair } from '../support/certificate-pair.ts';
import { appHost } from './gateway/support/app-edge.ts';
import { scratchFolder } from '../support/scratch.ts';
import { askHttps } from './gateway/support/traffic.ts';
import { startUpstream } from './gateway/support/upstream.ts';
import { AgentServer } from './support/own-agent.ts';

/** Our own agent, `gatehouse http`, in a process of its own, against the program in another. */

const folder = scratchFolder();
let server: AgentServer;
before(async () => {
  server = await AgentServer.start(folder);
});
after(() => server[Symbol.asyncDispose]());

test('it prints a public address, takes visitors to the port, and prints a line for each request', async () => {
  await using upstream = await startUpstream();
  const { agent, address } = await server.online(['http', upstream.port]);
  assert.match(address, /^https:\/\/[a-z]+-[a-z]+-\d+\.localhost$/);
  const { status, echo } = await server.visit(address, { path: '/a/b?secret=1', headers: { 'x-one': '1' } });
  assert.deepEqual([status, echo?.url, echo?.headers['x-one']], [200, '/a/b?secret=1', '1']);
  await server.visit(address, { path: '/posted', method: 'POST', body: 'x'.repeat(1000) });
  await agent.printed(/^\S+ GET \/a\/b 200 \d+ ms$/m);
  await agent.printed(/^\S+ POST \/posted 200 \d+ ms$/m);
  assert.ok(!agent.out.includes('secret'), 'queries may hold secrets');
  assert.ok(!agent.out.includes('\u001B'), 'a pipe gets no live view');
});

test('it prints the address of a local page, which shows the last requests and replays them', async () => {
  await using upstream = await startUpstream();
  const { agent, address } = await server.online(['http', upstream.port], { GATEHOUSE_INSPECT: '127.0.0.1:0' });
  const page = await agent.printed(/^\S+ inspect requests at (http:\/\/127\.0\.0\.1:\d+)$/m);
  await server.visit(address, {
    path: '/hook?a=1',
    method: 'POST',
    body: 'paid',
    headers: { authorization: 'Bearer hunter2' },
  });
  await agent.printed(/ POST \/hook 200 /);
  const listed = async () => JSON.parse(await (await fetch(`${page}/api/requests/http`)).text()).requests;
  const [first] = await listed();
  const { id, request: recorded, response } = first;
  assert.deepEqual([recorded.uri, response.status_code], ['/hook?a=1', 200]);
  assert.match(first.remote_addr, /^127\.0\.0\.1:\d+$/);
  const headers = { 'content-type': 'application/json' };
  const call = { method: 'POST', headers, body: JSON.stringify({ id }) };
  assert.equal((await fetch(`${page}/api/requests/http`, call)).status, 204);
  const [replay] = await listed();
  assert.equal(replay.replay_of, id);
  const { body } = splitRaw(replay.response.raw);
  const echo = JSON.parse(body);
  assert.deepEqual([echo.method, echo.url, echo.headers['gatehouse-replay']], ['POST', '/hook?a=1', id]);
  assert.ok(!JSON.stringify(await listed()).includes('hunter2'));
  // A port that was asked for is not exchanged for another.
  const other = server.agent(['http', upstream.port, '--inspect', new URL(page).port]);
  await other.complained(/--inspect: 127\.0\.0\.1:\d+ cannot be listened on \(EADDRINUSE\)/);
});

function splitRaw(raw: string): { readonly head: string; readonly body: string } {
  const text = Buffer.from(raw, 'base64').toString();
  const at = text.indexOf('\r\n\r\n');
  return { head: text.slice(0, at), body: text.slice(at + 4) };
}

test('a chosen name, changed headers, metadata, and JSON lines', async () => {
  await using upstream = await startUpstream();
  const options = [
    '--domain',
    'shop.localhost',
    '--request-header-add',
    'x-added: a b',
    '--metadata',
    'm',
    '--log=json',
  ];
  const agent = server.agent(['http', `http://127.0.0.1:${upstream.port}`, ...options]);
  await agent.printed(/"event":"online"/);
  const { echo } = await server.visit('https://shop.localhost', { path: '/x' });
  assert.equal(echo?.headers['x-added'], 'a b');
  await agent.printed(/"event":"request"/);
  const lines = agent.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  const online = lines.find(({ event }) => event === 'online');
  assert.deepEqual([online.address, online.target], ['https://shop.localhost', `http://127.0.0.1:${upstream.port}`]);
  const { method, path, status, ms, whole } = lines.find(({ event }) => event === 'request');
  assert.deepEqual([method, path, status, whole, Number.isInteger(ms)], ['GET', '/x', 200, true, true]);
  const { tunnels } = await server.program.must('GET', '/tunnels');
  const shown = tunnels.find(({ public_url }: { public_url: string }) => public_url === 'https://shop.localhost');
  assert.deepEqual([shown.metadata, shown.forwards_to], ['m', `http://127.0.0.1:${upstream.port}`]);
});

test('while nothing listens at the target, visitors get a 502 page without its address, and the operator a line', async () => {
  const port = await freePort();
  const { agent, address } = await server.online(['http', port]);
  const { status, text, headers } = await server.visit(address, {
    path: '/gone',
    method: 'POST',
    body: 'x'.repeat(1e6),
  });
  assert.equal(status, 502);
  assert.match(String(headers['content-type']), /^text\/html/);
  assert.match(text, /The agent of this address is connected, but the program behind it does not answer/);
  assert.ok(!text.includes(String(port)) && !text.includes('localhost'));
  assert.equal((await server.visit(address, { method: 'HEAD' })).status, 502);
  await agent.printed(new RegExp(`target http://localhost:${port} cannot be reached: nothing listens there`));
  await agent.printed(/POST \/gone 502 /);
  await using target = createServer((_, response) => response.end('here')).listen(port, '127.0.0.1');
  await once(target, 'listening');
  assert.equal((await server.visit(address)).text, 'here');
});

test('a target over TLS must have a certificate that is trusted, unless any is accepted', async () => {
  const pair = makePair('target', '-subj', '/CN=target.test', '-addext', 'subjectAltName=IP:127.0.0.1');
  const options = { cert: pair.certificate_pem, key: pair.private_key_pem };
  await using target = createTlsServer(options, (_, response) => response.end('secure')).listen(0, '127.0.0.1');
  await once(target, 'listening');
  const url = `https://127.0.0.1:${portOf(target)}`;
  const strict = await server.online(['http', url]);
  assert.equal((await server.visit(strict.address)).status, 502);
  await strict.agent.printed(/cannot be reached: its certificate is not trusted .*--upstream-insecure/);
  const lax = await server.online(['http', url, '--upstream-insecure']);
  assert.equal((await server.visit(lax.address)).text, 'secure');
});

test('5 MB each way arrive as they were sent', async () => {
  await using upstream = await startUpstream('echo', (asked, response) => asked.pipe(response));
  const { address } = await server.online(['http', upstream.port]);
  const sent = randomBytes(5 * 1024 * 1024);
  const hash = createHash('sha256');
  const { hostname } = new URL(address);
  const asking = request({
    host: '127.0.0.1',
    port: server.httpsPort,
    servername: hostname,
    headers: { host: hostname },
    method: 'POST',
    rejectUnauthorized: false,
    agent: false,
  });
  asking.end(sent);
  const [response] = await once(asking, 'response');
  for await (const chunk of response) hash.update(chunk);
  assert.equal(hash.digest('hex'), createHash('sha256').update(sent).digest('hex'));
});

test('a visitor that does not read stalls nobody else', async () => {
  const large = Buffer.alloc(1024 * 1024);
  await using upstream = await startUpstream('large', (asked, response) => {
    if (asked.url !== '/large') response.end('small');
    else for (let left = 64; left > 0; left--) response.write(large);
  });
  const { address } = await server.online(['http', upstream.port]);
  const { hostname } = new URL(address);
  const slow = connect({ host: '127.0.0.1', port: server.httpsPort, servername: hostname, rejectUnauthorized: false });
  after(() => slow.destroy());
  await once(slow, 'secureConnect');
  slow.write(`GET /large HTTP/1.1\r\nhost: ${hostname}\r\n\r\n`);
  await once(slow, 'readable');
  for (let left = 20; left > 0; left--) assert.equal((await server.visit(address)).text, 'small');
});

test('a connection that changes its protocol is passed on and described once', async (t) => {
  const target = createServer().listen(0, '127.0.0.1');
  await once(target, 'listening');
  const upgraded: Duplex[] = [];
  t.after(() => {
    for (const socket of upgraded) socket.destroy();
    target.close();
  });
  target.on('upgrade', (_, socket) => {
    upgraded.push(socket);
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: echo\r\n\r\n');
    socket.pipe(socket);
  });
  const { agent, address } = await server.online(['http', portOf(target)]);
  const { hostname } = new URL(address);
  const client = connect({
    host: '127.0.0.1',
    port: server.httpsPort,
    servername: hostname,
    rejectUnauthorized: false,
  });
  after(() => client.destroy());
  let received = '';
  client.on('data', (chunk) => (received += String(chunk)));
  client.write(`GET /ws HTTP/1.1\r\nhost: ${hostname}\r\nconnection: upgrade\r\nupgrade: echo\r\n\r\n`);
  await agent.printed(/GET \/ws 101 /);
  client.write('GET /not-a-request HTTP/1.1\r\n\r\n');
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`received ${received}`)), 120_000);
    client.on('data', () => {
      if (!received.includes('/not-a-request')) return;
      clearTimeout(timer);
      resolve();
    });
  });
  assert.doesNotMatch(agent.out, /not-a-request/);
});

test('labels bring the visitors of an edge whose backend has them', async () => {
  await using upstream = await startUpstream();
  const { program } = server;
  const group = await program.must('POST', '/backends/tunnel_group', { labels: { app: 'shop' } });
  const edge = await program.must('POST', '/edges/https', { hostports: [`${appHost}:443`] });
  await program.must('POST', `/edges/https/${edge.id}/routes`, {
    match_type: 'path_prefix',
    match: '/',
    backend: { backend_id: group.id },
  });
  const agent = server.agent(['http', upstream.port, '--label', 'app=shop', '--label', 'more=b']);
  await agent.printed(new RegExp(`online labels app=shop, more=b -> http://localhost:${upstream.port}$`, 'm'));
  const { status, echo } = await askHttps(server.httpsPort, appHost, { path: '/by-edge' });
  assert.deepEqual([status, echo?.url], [200, '/by-edge']);
  await agent.printed(/GET \/by-edge 200 /);
});
