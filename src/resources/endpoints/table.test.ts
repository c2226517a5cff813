import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onEachDatabase } from '../../../test/support/each-database.ts';
import { migrations } from '../../start/open-context.ts';
import { openStore } from '../../store/store.ts';
import { endpointsAt } from './table.ts';

onEachDatabase('cloud endpoints of a database from before their pools stood in a column', (_newDatabase, newEmpty) => {
  test('share what they shared, whatever their texts say', async () => {
    const url = await newEmpty();
    const open = (wanted: typeof migrations) => openStore({ url, migrations: wanted, onFeedFault: assert.ifError });
    const place = 'https://app.internal';
    {
      const isOlder = ({ name }: (typeof migrations)[number]) => name !== 'endpoints 0002 places';
      await using old = await open(migrations.filter(isOlder));
      await old.writeUnlogged(async (writer) => {
        await writer.run("INSERT INTO accounts (id, account_id, document, name) VALUES ('ac_1', 'ac_1', '{}', 'one')");
        const documents = {
          ep_1: { url: place, pooling_enabled: true, traffic_policy: '{}' },
          ep_2: { url: place, pooling_enabled: false, traffic_policy: '{"pooling_enabled":true}' },
        };
        for (const [id, document] of Object.entries(documents))
          await writer.run("INSERT INTO cloud_endpoints (id, account_id, document, url) VALUES ($1, 'ac_1', $2, $3)", [
            id,
            JSON.stringify(document),
            place,
          ]);
      });
    }
    await using store = await open(migrations);
    assert.deepEqual(await endpointsAt(store.queries, 'ac_1', 'url', place), [
      { id: 'ep_2', url: place, isPooled: false },
      { id: 'ep_1', url: place, isPooled: true },
    ]);
  });
});
