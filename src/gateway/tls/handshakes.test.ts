import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as open, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { connect, createSecureContext, TLSSocket } from 'node:tls';
import type { ConnectionOptions } from 'node:tls';

import { ClientAuthority } from '../../../test/support/client-certificates.ts';
import { until } from '../../../test/e2e/gateway/support/until.ts';
import { TlsHandshakes } from './handshakes.ts';
import type { HandshakeOptions } from './handshakes.ts';

const limit = { timeout: 240_000 };
const authority = new ClientAuthority('authority');
const context = createSecureContext({ ...authority.sign('app.test', { usage: 'serverAuth' }), ca: authority.pem });

type Served = (secure: TLSSocket) => void;
const hello: Served = (secure) => void secure.end('hello');

async function start(t: TestContext, more: Partial<HandshakeOptions> = {}, serve = hello) {
  const ready: string[] = [];
  const failed: string[] = [];
  const handshakes = new TlsHandshakes({ contextFor: () => Promise.resolve(context), limitMs: 60_000, ...more });
  const server = createServer((socket) => {
    socket.on('error', () => {});
    handshakes.accept(socket, {
      ready: (secure, name) => {
        ready.push(name);
        serve(secure.on('error', () => {}));
      },
      failed: (reason, name) => failed.push(`${reason} ${name}`),
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  const { port } = server.address() as AddressInfo;
  /** What the client reads until the end; the message of its error, if it breaks. */
  const visit = (options: ConnectionOptions = {}): Promise<string> =>
    new Promise((resolve) => {
      let text = '';
      const base = { host: '127.0.0.1', port, servername: 'app.test', rejectUnauthorized: false };
      const socket = connect({ ...base, ...options });
      t.after(() => socket.destroy());
      socket.on('data', (chunk) => (text += String(chunk)));
      socket.on('error', (error) => resolve(`error ${error.message}`));
      socket.on('close', () => resolve(text));
    });
  return { visit, ready, failed, handshakes, port };
}

test(
  'a handshake hands on the name in lower case; without one, or with one that is none, there is no connection',
  limit,
  async (t) => {
    const { visit, ready, failed } = await start(t);
    assert.equal(await visit({ servername: 'APP.test' }), 'hello');
    assert.match(await visit({ servername: 'a_b:1' }), /^error /);
    assert.match(await visit({ servername: '' }), /^error /);
    assert.deepEqual(ready, ['app.test']);
    assert.deepEqual(failed, ['unknown_name a_b:1', 'no_name ']);
  },
);

test('a session that is resumed is no way past the demand for a certificate', limit, async (t) => {
  const [asking, other] = [await start(t, { asksForCertificate: true }), await start(t)];
  assert.deepEqual([await asking.visit(), await other.visit()], ['hello', 'hello']);
  // OpenSSL is told to resume none; should it do so all the same, the connection is closed.
  t.mock.method(TLSSocket.prototype, 'isSessionReused', () => true);
  assert.notEqual(await asking.visit(), 'hello');
  assert.equal(await other.visit(), 'hello');
  assert.deepEqual([asking.ready.length, other.ready.length], [1, 2]);
});

test('TLS 1.2 is refused where 1.3 is demanded, and older ones everywhere', limit, async (t) => {
  const [strict, usual] = [await start(t, { needsTls13: true }), await start(t)];
  const old = { maxVersion: 'TLSv1.2' } as const;
  assert.match(await strict.visit(old), /^error /);
  assert.deepEqual([await strict.visit(), await usual.visit(old)], ['hello', 'hello']);
  const oldest = { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' } as const;
  assert.match(await usual.visit(oldest), /^error /);
});

test('a handshake that does not end has its time as a whole, and counts as idle until then', limit, async (t) => {
  const { handshakes, port, ready } = await start(t, { limitMs: 300 });
  const socket = open(port, '127.0.0.1');
  t.after(() => socket.destroy());
  socket.on('error', () => {});
  let isClosed = false;
  socket.on('close', () => (isClosed = true));
  // A record that never ends: each byte would start a limit anew that counts from the last one.
  socket.write(Buffer.from([0x16, 0x03, 0x01, 0x40, 0x00]));
  await until(() => [...handshakes.idleConnections()].length === 1, 'it is under way');
  const drip = setInterval(() => socket.write('x'), 20);
  t.after(() => clearInterval(drip));
  await until(() => isClosed, 'it is closed');
  await until(() => [...handshakes.idleConnections()].length === 0, 'it is forgotten');
  assert.deepEqual(ready, []);
});

test('a connection whose handshake is done has its time no more', limit, async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { visit } = await start(t, {}, (secure) => {
    secure.write('hello');
    t.mock.timers.tick(3_600_000);
    secure.end(', an hour later');
  });
  assert.equal(await visit(), 'hello, an hour later');
});

test('plain HTTP is told to come by TLS', limit, async (t) => {
  const { port, failed } = await start(t);
  const socket = open(port, '127.0.0.1');
  t.after(() => socket.destroy());
  let text = '';
  socket.on('data', (chunk) => (text += String(chunk))).on('error', () => {});
  socket.write('GET / HTTP/1.1\r\nHost: app.test\r\n\r\n');
  await once(socket, 'close');
  assert.match(text, /^HTTP\/1\.1 400 /);
  assert.deepEqual(failed, ['plain_http ']);
});
