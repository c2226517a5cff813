import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { test } from 'node:test';

import { onDatabasesInTurn } from '../../../../test/support/each-database.ts';
import { Gatehouse } from '../../../../test/support/gatehouse.ts';
import { freePort } from '../../../../test/support/free-port.ts';

/** True if something listens there, whatever it does with the connection. */
function opens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => resolve(true));
    // An edge without a backend resets at once, perhaps before the client has seen that it is connected.
    socket.on('error', (error) => resolve('code' in error && error.code === 'ECONNRESET'));
    socket.once('connect', () => socket.destroy());
  });
}

onDatabasesInTurn('ports of TCP edges that nobody can connect to', (newDatabase) => {
  test('a port that another program has is named in a header, in the edge and by /readyz, which stays ready', async () => {
    await using taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    await using gatehouse = await Gatehouse.start(await newDatabase(), { tcpPorts: '1024-65535', drainSeconds: '0' });
    const { status, headers, body } = await gatehouse.post('/edges/tcp', { hostports: [`localhost:${port}`] });
    assert.equal(status, 201);
    const said = `port ${port} is not open: another program has this port`;
    assert.equal(headers.get('gatehouse-warning'), said);
    const closed = [{ port, reason: 'another program has this port' }];
    assert.deepEqual(body.unopened_ports, closed);
    assert.deepEqual((await gatehouse.get(`/edges/tcp/${body.id}`)).body.unopened_ports, closed);
    const ready = await gatehouse.get('/readyz');
    assert.deepEqual([ready.status, ready.body.unopened_ports], [200, [port]]);

    const free = await freePort();
    const moved = await gatehouse.patch(`/edges/tcp/${body.id}`, { hostports: [`localhost:${free}`] });
    assert.deepEqual([moved.headers.get('gatehouse-warning'), moved.body.unopened_ports], [null, undefined]);
    assert.equal((await gatehouse.get('/readyz')).body.unopened_ports, undefined);
  });

  test('ports outside a range that was narrowed are closed, named at the start, and shown in the edge', async () => {
    const database = await newDatabase();
    const [inside, outside] = [await freePort(), await freePort()];
    let id = '';
    {
      await using wide = await Gatehouse.start(database, { tcpPorts: '1024-65535', drainSeconds: '0' });
      id = (await wide.create('/edges/tcp', { hostports: [`a:${inside}`, `b:${outside}`] })).id;
      assert.ok(await opens(outside));
    }
    await using narrow = await Gatehouse.start(database, { tcpPorts: `${inside}-${inside}`, drainSeconds: '0' });
    assert.deepEqual([await opens(inside), await opens(outside)], [true, false]);
    const line = narrow.logLines.find((each) => each.includes('are closed'));
    assert.ok(line?.includes(`${outside} (${id})`) && !line.includes(`${inside} (${id})`), line);
    const [closed, ...more] = (await narrow.get(`/edges/tcp/${id}`)).body.unopened_ports;
    assert.deepEqual([closed.port, more], [outside, []]);
    assert.match(closed.reason, /not among the ports of this installation/);
  });
});
