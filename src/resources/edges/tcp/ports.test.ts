import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser } from '../../../../test/support/people.ts';
import { refuses } from '../../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../../test/support/shared-gatehouse.ts';
import { ConstraintError } from '../../../store/database.ts';

const path = '/edges/tcp';

onGatehousesInTurn(
  'ports of TCP edges',
  (g) => {
    const newStranger = async () => createUser(g(), 'admin', await createAccount(g()));
    let nextPort = 10_000;
    const newHostport = () => `tcp.example.com:${nextPort++}`;

    test('hostports must be host:port, on ports of this installation, each port once', async () => {
      for (const hostport of [
        '',
        'tcp.example.com',
        'a b:10500',
        'ä.example:10500',
        '*.example.com:10500',
        'a:b:10500',
      ]) {
        await refuses(g(), ['POST', path, { hostports: [hostport] }], 400, 7104);
      }
      for (const port of ['', '0', '65536', '010500', '-1', '1e4', '10500 ']) {
        await refuses(g(), ['POST', path, { hostports: [`a:${port}`] }], 400, 7112);
      }
      for (const port of [22, 9_999, 20_000]) {
        const message = await refuses(g(), ['POST', path, { hostports: [`a:${port}`] }], 400, 20014);
        assert.match(message, /10000-19999/);
      }
      await refuses(g(), ['POST', path, { hostports: ['a:10500', 'a:10500'] }], 400, 20009);
      await refuses(g(), ['POST', path, { hostports: ['a:10500', 'b:10500'] }], 400, 20031);
      await refuses(g(), ['POST', path, { hostports: 'a:10500' }], 400, 215);
      await refuses(g(), ['POST', path, { hostports: [10_500] }], 400, 215);
      const many = Array.from({ length: 1001 }, (_, at) => `a:${11_000 + at}`);
      await refuses(g(), ['POST', path, { hostports: many }], 400, 7129);
      assert.equal((await g().post(path, { hostports: ['a:19999'] })).status, 201);
    });

    test('a port belongs to one edge; only edges of the same account are named', async () => {
      const hostport = newHostport();
      const edge = await g().create(path, { hostports: [hostport] });
      const samePort = `other.example:${hostport.split(':')[1]}`;
      const message = await refuses(g(), ['POST', path, { hostports: [newHostport(), samePort] }], 409, 7122);
      assert.ok(message.includes(edge.id) && message.includes(samePort));
      const stranger = await newStranger();
      const toStranger = await refuses(g(), ['POST', path, { hostports: [samePort] }, stranger], 409, 7122);
      assert.doesNotMatch(toStranger, /edgtcp_/);
      const other = await g().create(path, {});
      await refuses(g(), ['PATCH', `${path}/${other.id}`, { hostports: [hostport] }], 409, 7122);
      await g().patch(`${path}/${edge.id}`, { hostports: [] });
      assert.deepEqual((await g().patch(`${path}/${other.id}`, { hostports: [hostport] })).body.hostports, [hostport]);
      await g().delete(`${path}/${other.id}`);
      assert.equal((await g().post(path, { hostports: [hostport] }, stranger)).status, 201);
    });

    test('the database itself gives a port to one edge only', async () => {
      const hostport = newHostport();
      const { id } = await g().create(path, { hostports: [hostport] });
      const other = await g().create(path, {});
      const { store } = g().app.context;
      const [row] = await store.queries.all('SELECT edge_id FROM tcp_edge_ports WHERE port = $1', [
        hostport.split(':')[1] ?? '',
      ]);
      assert.deepEqual(row, [id]);
      const steal = store.write({ id: 'test', accountId: '', operationId: '' }, async (transaction) => {
        const sql = 'INSERT INTO tcp_edge_ports (port, edge_id) VALUES ($1, $2)';
        await transaction.run(sql, [Number(hostport.split(':')[1]), other.id]);
      });
      await assert.rejects(steal, ConstraintError);
    });
  },
  { role: 'api' },
);
