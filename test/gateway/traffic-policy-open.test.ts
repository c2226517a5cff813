import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import type { SnapshotEntry } from '../../src/snapshot/contract.ts';
import { connectClient } from './support/https-client.ts';
import {
  allowPolicy,
  backendEntry,
  edgeEntry,
  prefixRoute,
  toBackend,
  trafficPolicy,
} from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startRawUpstream } from './support/https-upstream.ts';
import { vaultWith } from './support/policies.ts';
import { until } from './support/tcp-engine.ts';

/** A connection that has changed protocol at an edge with a policy. */
async function upgrade(
  t: TestContext,
  document: object,
  { entries = [], header = '' }: { readonly entries?: readonly SnapshotEntry[]; readonly header?: string } = {},
) {
  const upstream = await startRawUpstream((socket) => {
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: echo\r\n\r\nup');
  });
  t.after(() => upstream[Symbol.asyncDispose]());
  const modules = { ...toBackend('b'), ...trafficPolicy(document) };
  const edge = edgeEntry('e', ['app.test'], [prefixRoute('/', modules)]);
  const gateway = await startGateway([backendEntry('b', upstream.port), edge, ...entries], {
    // Nothing ends it but the rules.
    timeouts: { idleMs: 86_400_000 },
  });
  t.after(() => gateway[Symbol.asyncDispose]());
  const client = await connectClient(gateway.port);
  let text = '';
  client.on('data', (chunk: Buffer) => (text += chunk.toString('latin1'))).on('error', () => {});
  client.write(`GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n${header}\r\n`);
  await until(() => text.endsWith('up'), 'the upgrade');
  const closed = once(client, 'close');
  /** Changes something that the policy does not go by: open connections are looked at again. */
  const lookAgain = () => gateway.set(allowPolicy('ipp_other', '192.0.2.0/24'));
  const isOpen = async () => {
    client.write('still here');
    await until(() => client.destroyed || upstream.received.endsWith('still here'), 'it is open or not');
    return !client.destroyed;
  };
  return { gateway, closed, lookAgain, isOpen };
}

test('an open connection ends with the password in a vault that has opened it', async (t) => {
  const document = {
    on_http_request: [
      { actions: [{ type: 'basic-auth', config: { credentials: ["ada:${secrets.get('keys', 'word')}"] } }] },
    ],
  };
  const header = `Authorization: Basic ${Buffer.from('ada:long enough').toString('base64')}\r\n`;
  const { gateway, closed, lookAgain, isOpen } = await upgrade(t, document, {
    header,
    entries: vaultWith('word', 'long enough'),
  });
  await lookAgain();
  assert.equal(await isOpen(), true);
  await gateway.set(...vaultWith('word', 'another one'));
  await closed;
});

test('an open connection ends with the secret that an expression of on_tcp_connect has let it in by', async (t) => {
  const expressions = ["!inCidrRange(conn.client_ip, secrets.get('keys', 'range'))"];
  const document = { on_tcp_connect: [{ expressions, actions: [{ type: 'deny' }] }] };
  const { gateway, closed, lookAgain, isOpen } = await upgrade(t, document, {
    entries: vaultWith('range', '127.0.0.0/8'),
  });
  await lookAgain();
  assert.equal(await isOpen(), true);
  await gateway.set(...vaultWith('range', '192.0.2.0/24'));
  await closed;
});

test('an open connection is asked again as often as rules change', async (t) => {
  const names = Array.from({ length: 200 }, (_, at) => `10.${at}.0.0/16`);
  const allow = [...names.map((name) => `\${'${name}'}`), '127.0.0.0/8'].toReversed();
  const document = { on_http_request: [{ actions: [{ type: 'restrict-ips', config: { deny: names, allow } }] }] };
  const { lookAgain, isOpen } = await upgrade(t, document);
  // Each look takes some of what a visit may cost.
  for (let round = 0; round < 5000; round++) await lookAgain();
  assert.equal(await isOpen(), true);
});
