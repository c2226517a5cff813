import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { onAnyDatabase } from '../../../test/support/each-database.ts';

onAnyDatabase('connections to the API', (newDatabase) => {
  async function start(t: TestContext, settings: Parameters<typeof Gatehouse.start>[1]): Promise<Gatehouse> {
    const gatehouse = await Gatehouse.start(await newDatabase(), { role: 'api', ...settings });
    t.after(() => gatehouse[Symbol.asyncDispose]());
    return gatehouse;
  }

  /** Opens connections that say nothing. */
  async function open(t: TestContext, { url }: Gatehouse, count: number, from: string): Promise<readonly Socket[]> {
    const sockets: Socket[] = [];
    for (let at = 0; at < count; at++) {
      const socket = connect({ host: '127.0.0.1', port: Number(new URL(url).port), localAddress: from });
      t.after(() => socket.destroy());
      socket.on('error', () => {}).resume();
      // One that is refused may be reset before it is connected.
      await new Promise((resolve) => socket.once('connect', resolve).once('close', resolve));
      sockets.push(socket);
    }
    return sockets;
  }

  const closed = (sockets: readonly Socket[]) => sockets.filter(({ destroyed }) => destroyed).length;

  test('of one source are limited, and others are served', async (t) => {
    const gatehouse = await start(t, { apiConnections: '8', apiSourceConnections: '4' });
    const silent = await open(t, gatehouse, 7, '127.0.0.2');
    await until(() => closed(silent) === 3, 'those beyond the limit are closed');
    assert.equal((await gatehouse.get('/ip_policies')).status, 200);
    const logged = gatehouse.logLines.filter((line) => line.includes('GATEHOUSE_API_SOURCE_CONNECTIONS'));
    assert.equal(logged.length, 1);
    assert.ok(logged[0]?.includes('"code":20074') && logged[0].includes('127.0.0.2'));
  });

  test('of many sources make room, those first that have been idle longest', async (t) => {
    const gatehouse = await start(t, { apiConnections: '8', apiSourceConnections: '4' });
    const older = await open(t, gatehouse, 4, '127.0.0.2');
    const newer = await open(t, gatehouse, 4, '127.0.0.3');
    assert.equal((await gatehouse.get('/ip_policies')).status, 200);
    await until(() => closed(older) === 1, 'the oldest made room');
    assert.equal(closed(newer), 0);
  });

  test('that close leave their place to others', async (t) => {
    const gatehouse = await start(t, { apiConnections: '4', apiSourceConnections: '2' });
    for (let round = 0; round < 20; round++) {
      for (const socket of await open(t, gatehouse, 2, '127.0.0.2')) {
        socket.destroy();
        if (!socket.closed) await once(socket, 'close');
      }
      assert.equal((await gatehouse.get('/ip_policies')).status, 200);
    }
    await until(async () => {
      const [last] = await open(t, gatehouse, 1, '127.0.0.2');
      await new Promise((resolve) => setTimeout(resolve, 50));
      return last?.destroyed === false;
    }, 'there is a place');
  });

  test('of a trusted proxy are limited by the number of all only', async (t) => {
    const settings = { apiConnections: '8', apiSourceConnections: '1', trustedProxies: '127.0.0.2' };
    const gatehouse = await start(t, settings);
    const silent = await open(t, gatehouse, 6, '127.0.0.2');
    assert.equal((await gatehouse.get('/ip_policies')).status, 200);
    assert.equal(closed(silent), 0);
  });
});
