import assert from 'node:assert/strict';
import { test } from 'node:test';

import { freePort } from '../support/free-port.ts';
import { silentNames } from './support/silent-names.ts';
import { startGateway, until } from './support/tcp-engine.ts';
import { backend, snapshot, tcpEdge, toBackend } from './support/tcp-entries.ts';
import { dial, dialAndEcho, startUpstream } from './support/tcp-peers.ts';

test('backends whose name servers are silent hold up the names of no other account', async (t) => {
  const names = silentNames();
  t.after(names.giveUp);
  const upstream = await startUpstream(t);
  const { engine } = await startGateway(t, {}, [], { lookup: names.lookup });
  const ports: number[] = [];
  for (let at = 0; at < 12; at++) ports.push(await freePort());
  const port = await freePort();
  await engine.apply(
    snapshot(
      ...ports.flatMap((each, at) => [
        backend(`bkdsc_b${at}`, upstream.port, { host: `h${at}.silent.test`, accountId: 'acc_b', tls: at % 2 === 0 }),
        { ...tcpEdge(`edgtcp_b${at}`, [each], toBackend(`bkdsc_b${at}`)), accountId: 'acc_b' },
      ]),
      backend('bkdsc_1', upstream.port, { host: 'app.test', accountId: 'acc_a' }),
      tcpEdge('edgtcp_1', [port]),
    ),
  );
  const hung = ports.map((each) => dial(t, each));
  await until(() => names.asked.length > 0, 'a name is asked for');
  await dialAndEcho(t, port);
  assert.equal(names.asked.filter((name) => name.endsWith('.silent.test')).length, 1);
  // Those whose visitors have left wait no more.
  for (const { socket } of hung) socket.destroy();
  await until(() => engine.clientCount <= 1, 'they are over');
  names.giveUp();
  await dialAndEcho(t, port);
  assert.equal(names.asked.filter((name) => name.endsWith('.silent.test')).length, 1);
});
