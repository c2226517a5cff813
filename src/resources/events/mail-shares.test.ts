import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { createAccount } from '../../../test/support/people.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { takeMail } from './service.ts';
import { takeMailIn } from './mail-shares.ts';

onDatabasesInTurn('shares of e-mail', (newDatabase) => {
  test('hold for all processes and after a restart, account by account, until an hour has passed', async () => {
    const database = await newDatabase();
    const hourMs = 3_600_000;
    let [own, other] = ['', ''];
    {
      await using gatehouse = await Gatehouse.start(database);
      [own, other] = [await createAccount(gatehouse), await createAccount(gatehouse)];
      const take = gatehouse.app.context.services.get(takeMail);
      assert.deepEqual([await take(own, 2), await take(own, 2)], [0, 0]);
      const waitMs = await take(own, 2);
      assert.ok(waitMs > hourMs - 600_000 && waitMs <= hourMs, String(waitMs));
      assert.equal(await take(other, 2), 0);
      assert.equal(await take(own, 3), 0, 'one that was refused is not counted');
    }
    await using gatehouse = await Gatehouse.start(database);
    const { store } = gatehouse.app.context;
    const take = takeMailIn(store);
    assert.ok((await take(own, 3)) > 0, 'after a restart');
    const move = (byMs: number) =>
      store.writeUnlogged((writer) => writer.run('UPDATE sent_mails SET sent_at_ms = sent_at_ms + $1', [byMs]));
    await move(-hourMs);
    assert.equal(await take(own, 1), 0, 'the hour is over');
    assert.ok((await take(own, 1)) > 0);
    await move(hourMs / 2);
    assert.ok((await take(own, 1)) <= hourMs, 'a clock that was ahead costs an hour at most');
    await move(hourMs);
    assert.equal(await take(own, 1), 0);
    const rows = await store.queries.all('SELECT COUNT(*) FROM sent_mails');
    assert.equal(Number(rows[0]?.[0]), 1, 'nothing older is kept');
  });
});
