import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { test } from 'node:test';

import { freePorts } from '../../../test/support/free-port.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { newSqlite } from '../../../test/support/scratch.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';
import { addrShareUsed } from './errors.ts';

const path = '/reserved_addrs';
const settings = { role: 'api', tcpPorts: '10000-10003', agentDomain: 'agents.example.com' };

onGatehousesInTurn(
  'reserved addresses',
  (g) => {
    const portOf = ({ addr }: { addr: string }) => Number(addr.split(':')[1]);

    test('an address is assigned, under the agent domain and among the TCP ports, and stays', async () => {
      const made = await g().create(path, { description: 'd' });
      assert.match(made.id, /^ra_[0-9A-Za-z]{27}$/);
      assert.match(made.addr, /^agents\.example\.com:1000[0-3]$/);
      assert.equal(made.region, 'local');
      assert.equal((await g().patch(`${path}/${made.id}`, { description: 'e' })).body.addr, made.addr);
      assert.equal((await g().delete(`${path}/${made.id}`)).status, 204);
    });

    test('no port is given twice, and when none is left the answer says so', async () => {
      const edge = await g().create('/edges/tcp', { hostports: ['m:10002'] });
      const made = [await g().create(path), await g().create(path, { region: '' }), await g().create(path)];
      assert.deepEqual(
        made.map(portOf).toSorted((a, b) => a - b),
        [10_000, 10_001, 10_003],
      );
      const message = await refuses(g(), ['POST', path, {}], 409, 20087);
      assert.match(message, /10000-10003/);
      for (const { id } of made) await g().delete(`${path}/${id}`);
      await g().delete(`/edges/tcp/${edge.id}`);
    });

    test('a TCP edge of the same account may take it, and no other account', async () => {
      const reserved = await g().create(path);
      const stranger = await createUser(g(), 'admin', await createAccount(g()));
      const body = { hostports: [reserved.addr] };
      await refuses(g(), ['POST', '/edges/tcp', body, { token: stranger.token }], 409, 7122);
      const edge = await g().create('/edges/tcp', body);
      const message = await refuses(g(), ['DELETE', `${path}/${reserved.id}`], 409, 20088);
      assert.ok(message.includes(edge.id));
      await g().delete(`/edges/tcp/${edge.id}`);
      assert.equal((await g().delete(`${path}/${reserved.id}`)).status, 204);
    });

    test('a region is read back as it was given, as Terraform wants it', async () => {
      const { id, region } = await g().create(path, { region: 'us' });
      assert.equal(region, 'us');
      assert.equal((await g().patch(`${path}/${id}`, { description: 'e' })).body.region, 'us');
      assert.equal((await g().delete(`${path}/${id}`)).status, 204);
      assert.equal((await g().post(path, { region: 'r'.repeat(65) })).status, 400);
    });
  },
  settings,
);

test('an account that has its share of the ports, by addresses and edges, leaves the last ones to others', async () => {
  await using g = await Gatehouse.start(newSqlite(), { role: 'api', tcpPorts: '10000-10007' });
  const { token } = await createUser(g, 'admin', await createAccount(g));
  // Of eight ports, four are the share of each, and two are kept.
  await g.create('/edges/tcp', { hostports: ['m:10000', 'm:10001', 'm:10002'] }, { token });
  for (let at = 0; at < 3; at++) await g.create(path, {}, { token });
  const message = await refuses(g, ['POST', path, {}, { token }], 409, addrShareUsed.code);
  assert.match(message, /10000-10007 .* its share of 4\./);
  for (let at = 0; at < 2; at++) await g.create(path);
  await refuses(g, ['POST', path, {}], 409, 20087);
});

test('a port that another program of the machine has is not given', async () => {
  const first = await freePorts(2);
  const other = createServer().listen(first, '127.0.0.1');
  await once(other, 'listening');
  try {
    const ports = `${first}-${first + 1}`;
    await using g = await Gatehouse.start(newSqlite(), { tcpPorts: ports, tcpListenHost: '127.0.0.1' });
    assert.equal((await g.create(path)).addr, `localhost:${first + 1}`);
    await refuses(g, ['POST', path, {}], 409, 20087);
  } finally {
    other.close();
  }
});
