import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { refuses } from '../../../test/support/refusals.ts';

const role = 'api';

onEachDatabase('hostports of several processes', (newDatabase) => {
  test('of many that ask for a port or a name at once, one gets it', async () => {
    const database = await newDatabase();
    await using first = await Gatehouse.start(database, { role });
    await using second = await Gatehouse.start(database, { role });
    const askers = Array.from({ length: 10 }, (_, at) => (at % 2 === 0 ? first : second));
    for (const [path, hostport] of [
      ['/edges/tcp', 'tcp.example.com:10022'],
      ['/edges/https', 'app.example.com:443'],
    ] as const) {
      const answers = await Promise.all(askers.map((asker) => asker.post(path, { hostports: [hostport] })));
      assert.equal(answers.filter(({ status }) => status === 201).length, 1);
      assert.equal(answers.filter(({ status }) => status === 409).length, 9);
      const codes = new Set(answers.map(({ body }) => body.error_code));
      assert.deepEqual(codes, new Set([undefined, 'ERR_GATEHOUSE_7122']));
    }
  });

  test('ports are those of the settings, which do not touch what is stored', async () => {
    const database = await newDatabase();
    await using before = await Gatehouse.start(database, { role });
    const https = await before.create('/edges/https', { hostports: ['app.example.com:443'] });
    const tcp = await before.create('/edges/tcp', { hostports: ['tcp.example.com:10022'] });
    await using after = await Gatehouse.start(database, { role, httpsPort: '8443', tcpPorts: '20000-20001' });
    await refuses(after, ['POST', '/edges/https', { hostports: ['other.example.com:443'] }], 400, 7116);
    await refuses(after, ['POST', '/edges/https', { hostports: ['app.example.com:8443'] }], 409, 7122);
    await refuses(after, ['POST', '/edges/tcp', { hostports: ['tcp.example.com:10023'] }], 400, 20014);
    await after.create('/edges/https', { hostports: ['other.example.com:8443'] });
    await after.create('/edges/tcp', { hostports: ['tcp.example.com:20000', 'tcp.example.com:20001'] });
    for (const edge of [https, tcp]) {
      const path = new URL(edge.uri).pathname;
      const kept = await after.patch(path, { description: 'only a text' });
      assert.deepEqual(kept.body.hostports, edge.hostports);
    }
  });
});
