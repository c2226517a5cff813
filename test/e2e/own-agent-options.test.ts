import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { createServer as createTcpServer } from 'node:net';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { connect, createServer as createTlsServer } from 'node:tls';

import { portOf } from '../gateway/support/https-upstream.ts';
import { makePair } from '../support/certificate-pair.ts';
import { scratchFolder } from '../support/scratch.ts';
import { startUpstream } from './gateway/support/upstream.ts';
import { AgentServer } from './support/own-agent.ts';

/** The options of our own agent, as the server carries them out for real visitors. */

const folder = scratchFolder();
let server: AgentServer;
before(async () => {
  server = await AgentServer.start(folder);
});
after(() => server[Symbol.asyncDispose]());

test('--allow-cidr and --deny-cidr decide by the address of the visitor', async () => {
  await using upstream = await startUpstream();
  const allowed = await server.online(['http', upstream.port, '--allow-cidr', '127.0.0.1/32']);
  const denied = await server.online(['http', upstream.port, '--deny-cidr', '127.0.0.1/32']);
  const statusOf = async (address: string, from: string) => (await server.visit(address, { from })).status;
  assert.deepEqual(
    [await statusOf(allowed.address, '127.0.0.1'), await statusOf(allowed.address, '127.0.0.2')],
    [200, 403],
  );
  assert.deepEqual(
    [await statusOf(denied.address, '127.0.0.1'), await statusOf(denied.address, '127.0.0.2')],
    [403, 200],
  );
});

test('--basic-auth-file asks visitors for a name and password', async () => {
  await using upstream = await startUpstream();
  const file = join(folder, 'visitors');
  writeFileSync(file, 'anna:correct horse\n');
  chmodSync(file, 0o600);
  const { address } = await server.online(['http', upstream.port, '--basic-auth-file', file]);
  const as = (user: string) => ({ headers: { authorization: `Basic ${Buffer.from(user).toString('base64')}` } });
  const unknown = await server.visit(address);
  assert.deepEqual([unknown.status, unknown.headers['www-authenticate']?.startsWith('Basic ')], [401, true]);
  assert.equal((await server.visit(address, as('anna:wrong'))).status, 401);
  assert.equal((await server.visit(address, as('anna:correct horse'))).status, 200);
});

test('headers of requests and responses are added and removed', async () => {
  await using upstream = await startUpstream();
  const { address } = await server.online([
    'http',
    upstream.port,
    '--request-header-remove=x-secret',
    '--response-header-add=x-frame-options: DENY',
    '--response-header-remove=content-type',
  ]);
  const { echo, headers } = await server.visit(address, { headers: { 'x-secret': '1', 'x-kept': '1' } });
  assert.deepEqual([echo?.headers['x-secret'], echo?.headers['x-kept']], [undefined, '1']);
  assert.deepEqual([headers['x-frame-options'], headers['content-type']], ['DENY', undefined]);
});

test('--compression compresses for visitors that accept it', async () => {
  await using upstream = await startUpstream();
  const { address } = await server.online(['http', upstream.port, '--compression']);
  const asking = { path: `/${'long/'.repeat(400)}` };
  const { headers } = await server.visit(address, { ...asking, headers: { 'accept-encoding': 'gzip' } });
  assert.equal(headers['content-encoding'], 'gzip');
  assert.equal((await server.visit(address, asking)).headers['content-encoding'], undefined);
});

test('--proxy-protocol tells the program behind the address of the visitor', async () => {
  const heads: string[] = [];
  const program = createTcpServer((socket) => {
    socket.once('data', (chunk) => {
      heads.push(chunk.toString('latin1').split('\r\n')[0] ?? '');
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok');
    });
    socket.on('error', () => {});
  }).listen(0, '127.0.0.1');
  await once(program, 'listening');
  try {
    const { address } = await server.online(['http', portOf(program), '--proxy-protocol', '1']);
    assert.equal((await server.visit(address, { from: '127.0.0.3' })).text, 'ok');
    assert.match(heads[0] ?? '', /^PROXY TCP4 127\.0\.0\.3 127\.0\.0\.1 \d+ \d+$/);
  } finally {
    program.close();
  }
});

test('gatehouse tls passes TLS on as it is, to those who may come', async () => {
  const { certificate_pem, private_key_pem } = makePair('tls-program', '-subj', '/CN=pass.localhost');
  const program = createTlsServer({ cert: certificate_pem, key: private_key_pem }, (socket) => {
    socket.on('error', () => {});
    socket.end('behind TLS');
  }).listen(0, '127.0.0.1');
  await once(program, 'listening');
  try {
    const port = portOf(program);
    const { address } = await server.online(['tls', port, '--domain=pass.localhost', '--deny-cidr=127.0.0.2/32']);
    assert.match(address, /^tls:\/\/pass\.localhost/);
    assert.equal(await readTls('127.0.0.1', certificate_pem), 'behind TLS');
    await assert.rejects(readTls('127.0.0.2', certificate_pem));
  } finally {
    program.close();
  }
});

/** Connects to the name from an address, trusting the certificate of the program behind alone, and reads to the end. */
async function readTls(localAddress: string, ca: string): Promise<string> {
  const options = { port: server.httpsPort, host: '127.0.0.1', localAddress, servername: 'pass.localhost' };
  const socket: Socket = connect({ ...options, ca, checkServerIdentity: () => undefined });
  let text = '';
  for await (const chunk of socket) text += String(chunk);
  return text;
}
