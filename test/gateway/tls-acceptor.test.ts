import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { connect as connectPlain, createServer } from 'node:net';
import type { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { connect, createSecureContext } from 'node:tls';

import { TlsAcceptor } from '../../src/gateway/https/client/tls-acceptor.ts';
import type { ClientConnection } from '../../src/gateway/https/exchange.ts';
import { parseIp } from '../../src/lib/ip/address.ts';
import { edgeCertificate } from './support/https-certificate.ts';

test('each TLS connection has the client of its own socket, also where sockets have no addresses to tell them apart', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gatehouse-tls-'));
  const path = join(folder, 'socket');
  // Sockets of a file have no addresses, as those of clients that have left.
  const listener = createServer().listen(path);
  await once(listener, 'listening');
  const context = createSecureContext({ cert: edgeCertificate.certificate, key: edgeCertificate.key });
  const accepted = new Map<string, ClientConnection>();
  const handler = {
    accept: (socket: Socket, client: ClientConnection): void => {
      accepted.set(client.servername ?? '', client);
      socket.destroy();
    },
  };
  const acceptor = new TlsAcceptor({
    contextFor: () => Promise.resolve(context),
    limitMs: 10_000,
    h1: handler,
    h2: handler,
    needsTls13: false,
    onFailed: () => {},
  });
  const addresses = ['192.0.2.1', '192.0.2.2', '192.0.2.3'];
  const pairs: { readonly near: Socket; readonly far: Socket }[] = [];
  for (const _ of addresses) {
    const near = connectPlain(path);
    // The event `connection` of a server has this argument.
    const [far] = (await once(listener, 'connection')) as [Socket];
    assert.equal(far.remoteAddress, undefined);
    pairs.push({ near, far });
  }
  for (const [at, { far }] of pairs.entries()) {
    const source = parseIp(addresses[at] ?? '');
    assert.ok(source);
    acceptor.accept(far, { source, peerTrusted: at === 1, port: 0 }, undefined);
  }
  // All handshakes are under way before the first is completed, and not in the order of the sockets.
  for (const at of [1, 2, 0]) {
    const socket = pairs[at]?.near;
    assert.ok(socket);
    const secure = connect({ socket, servername: `host-${at}.wild.test`, ca: edgeCertificate.certificate });
    secure.on('error', () => {});
    await once(secure, 'close');
  }
  listener.close();
  await rm(folder, { recursive: true });
  assert.deepEqual(
    [0, 1, 2].map((at) => {
      const client = accepted.get(`host-${at}.wild.test`);
      return [client?.peerText, client?.peerTrusted];
    }),
    [
      ['192.0.2.1', false],
      ['192.0.2.2', true],
      ['192.0.2.3', false],
    ],
  );
});
