import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { actor, createThing, openThings } from '../../../test/support/things.ts';
import type { Store } from '../store.ts';
import { rehearseWrite } from './rehearsed-writes.ts';

async function namesOf({ queries }: Store): Promise<readonly string[]> {
  return (await queries.all('SELECT name FROM things ORDER BY name')).map(([name]) => String(name));
}

onDatabasesInTurn('rehearsed writes', (_newDatabase, newEmpty) => {
  test('what others write meanwhile, and what follows from it, is written', async () => {
    await using store = await openThings(await newEmpty());
    const [begun, go] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const following: Promise<unknown>[] = [];
    store.follow({
      changed: () => {
        if (following.length === 0) following.push(createThing(store, 'follows'));
      },
      reset: () => {},
    });
    let other: Promise<unknown> | undefined;
    const rehearsal = rehearseWrite(
      async () => {},
      async () => {
        // The round of transactions that it begins goes on with writes of others.
        await store.write(actor, async () => {
          begun.resolve();
          await go.promise;
        });
        await other;
        await Promise.all(following);
        await createThing(store, 'rehearsed');
      },
    );
    await begun.promise;
    other = createThing(store, 'other');
    go.resolve();
    assert.equal(await rehearsal, true);
    assert.deepEqual(await namesOf(store), ['follows', 'other']);
  });

  test('what the work has started writes once the rehearsal is over', async () => {
    await using store = await openThings(await newEmpty());
    const gate = Promise.withResolvers<void>();
    let later: Promise<unknown> | undefined;
    await rehearseWrite(
      async () => {},
      () => {
        later = gate.promise.then(() => createThing(store, 'later'));
        return createThing(store, 'rehearsed');
      },
    );
    gate.resolve();
    await later;
    assert.deepEqual(await namesOf(store), ['later']);
  });

  test('a write that changes nothing is no end: the one that follows it is inspected', async () => {
    await using store = await openThings(await newEmpty());
    const seen: string[] = [];
    const isChanged = await rehearseWrite(
      async (_transaction, changes) => {
        for (const { kind } of changes) seen.push(kind);
      },
      async () => {
        assert.equal(await store.write(actor, async () => 'outdated'), 'outdated');
        await createThing(store, 'rehearsed');
      },
    );
    assert.deepEqual([isChanged, seen, await namesOf(store)], [true, ['thing'], []]);
    assert.equal(
      await rehearseWrite(
        () => assert.fail(),
        () => store.write(actor, async () => {}),
      ),
      false,
    );
  });
});
