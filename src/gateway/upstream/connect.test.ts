import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:https';
import { test } from 'node:test';

import { makeCertificate } from '../../../test/gateway/support/https-certificate.ts';
import { portOf } from '../../../test/gateway/support/https-upstream.ts';
import { createConnector } from './connect.ts';
import { UpstreamGuard } from './guard.ts';
import { ListenerTable } from './listener-table.ts';
import { UpstreamSockets } from './upstream-sockets.ts';

function guardHere(): UpstreamGuard {
  const inward = { listeners: [], publicPorts: [], ownAddresses: {}, allowLinkLocal: false, networkId: '' };
  return new UpstreamGuard({
    listeners: new ListenerTable(inward, { has: () => false }),
    sockets: new UpstreamSockets(),
    allowLinkLocal: false,
    refused() {},
  });
}

test('all that looks up names in a process shares the two places that there are', async () => {
  const guards = [guardHere(), guardHere()];
  const begun: string[] = [];
  // Three spellings of what every system knows without a name server.
  const names = ['localhost', 'Localhost', 'LOCALHOST'];
  const found = names.map((host, at) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    const target = { id: 'b', accountId: host, host, port: 1, tls: false };
    guards[at % 2]?.lookupFor(target, () => begun.push(host)).lookup(host, { all: true }, () => resolve());
    return promise;
  });
  assert.deepEqual(begun, names.slice(0, 2));
  await Promise.all(found);
  assert.deepEqual(begun, names);
});

test('a certificate for other names is told in few words, however many names it has', async (t) => {
  const names = Array.from({ length: 60 }, (_, at) => `DNS:${at}.${'x'.repeat(60)}.${'y'.repeat(60)}.test`);
  const own = makeCertificate(...names);
  const server = createServer({ key: own.key, cert: own.certificate }).listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const guard = guardHere();
  const connect = createConnector(guard, [own.certificate]);
  const target = { id: 'b', accountId: 'ac_1', host: 'localhost', port: portOf(server), tls: true };
  const [error] = (await once(connect(target, {}, assert.fail), 'error')) as [Error];
  assert.match(error.message, /^the certificate is not for localhost, but for DNS:0\.xxx/);
  assert.ok(error.message.length < 300, `${error.message.length}`);
  assert.deepEqual(Object.entries(error), [['code', 'ERR_TLS_CERT_ALTNAME_INVALID']]);
});
