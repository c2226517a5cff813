import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser } from '../../../../test/support/people.ts';
import { refuses } from '../../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../../test/support/shared-gatehouse.ts';

const path = '/edges/https';

onGatehousesInTurn(
  'host names of HTTPS edges',
  (g) => {
    const newStranger = async () => createUser(g(), 'admin', await createAccount(g()));

    test('hostports must be hostname:443, each once', async () => {
      for (const hostport of [
        '',
        'example.com',
        'https://example.com:443',
        'exa mple.com:443',
        'münchen.de:443',
        'a.*.example.com:443',
        '*a.example.com:443',
        '*.*.example.com:443',
        '*.com:443',
        '*:443',
        '192.0.2.1:443',
        '[2001:db8::1]:443',
        'example.com.:443',
        '-a.example.com:443',
        `${'a'.repeat(64)}.com:443`,
        'a\u0000.com:443',
        "a'.com:443",
      ]) {
        await refuses(g(), ['POST', path, { hostports: [hostport] }], 400, 7104);
      }
      for (const port of ['', '0', '65536']) {
        await refuses(g(), ['POST', path, { hostports: [`example.com:${port}`] }], 400, 7112);
      }
      await refuses(g(), ['POST', path, { hostports: ['example.com:8443'] }], 400, 7116);
      await refuses(g(), ['POST', path, { hostports: ['same.com:443', 'SAME.com:443'] }], 400, 20009);
      await refuses(g(), ['POST', path, { hostports: { a: 1 } }], 400, 215);
      const many = Array.from({ length: 1001 }, (_, at) => `m${at}.example.com:443`);
      await refuses(g(), ['POST', path, { hostports: many }], 400, 7129);
    });

    test('a host name belongs to one edge; only edges of the same account are named', async () => {
      const hostport = 'n0.example.com:443';
      const edge = await g().create(path, { hostports: [hostport] });
      const message = await refuses(g(), ['POST', path, { hostports: [hostport.toUpperCase()] }], 409, 7122);
      assert.ok(message.includes(edge.id) && message.includes(hostport));
      const stranger = await newStranger();
      const toStranger = await refuses(g(), ['POST', path, { hostports: [hostport] }, stranger], 409, 7122);
      assert.doesNotMatch(toStranger, /edghts_/);
      const other = await g().create(path, { hostports: ['n1.example.com:443'] });
      await refuses(g(), ['PATCH', `${path}/${other.id}`, { hostports: [hostport] }], 409, 7122);
      await g().delete(`${path}/${edge.id}`);
      assert.equal((await g().post(path, { hostports: [hostport] }, stranger)).status, 201);
    });

    test('a wildcard and the names below it may be edges of one account, but not of two', async () => {
      const wildcard = '*.shared.example.com:443';
      await g().create(path, { hostports: [wildcard] });
      assert.equal((await g().post(path, { hostports: ['a.shared.example.com:443'] })).status, 201);
      const stranger = await newStranger();
      const below = { hostports: ['b.shared.example.com:443'] };
      const message = await refuses(g(), ['POST', path, below, stranger], 409, 20030);
      assert.doesNotMatch(message, /edghts_|\*\.shared/);
      // A wildcard stands for one label.
      const apart = { hostports: ['shared.example.com:443', 'c.b.shared.example.com:443', 'a.theirs.example.com:443'] };
      assert.equal((await g().post(path, apart, stranger)).status, 201);
      await refuses(g(), ['POST', path, { hostports: ['*.theirs.example.com:443'] }], 409, 20030);
      assert.equal((await g().post(path, { hostports: ['*.theirs.example.com:443'] }, stranger)).status, 201);
    });
  },
  { role: 'api' },
);
