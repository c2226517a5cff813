import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onEachDatabase } from '../../../test/support/each-database.ts';
import { until } from '../../../test/e2e/gateway/support/until.ts';
import { StoreUnavailableError } from '../database.ts';
import { openStore } from '../store.ts';
import type { Store } from '../store.ts';
import { Trail } from './history.ts';
import type { HistoryChange } from './history.ts';

const actor = { id: 'host', accountId: 'ac', operationId: 'op_test' };

function write(store: Store, id: string): Promise<void> {
  return store.write(actor, async (transaction) => {
    transaction.record({ accountId: 'ac', kind: 'thing', id, before: null, after: '{}', cascades: false });
  });
}

onEachDatabase('the history of a database', (_newDatabase, newEmpty) => {
  /** Opens the database as one process does, with what its followers and its watcher are told. */
  async function openTold(url: string) {
    const told: string[] = [];
    const changes: HistoryChange[] = [];
    const store = await openStore({
      url,
      migrations: [],
      onFeedFault: () => {},
      historyWatcher: { changed: (change) => void changes.push(change), rebuilt: () => void told.push('rebuilt') },
    });
    store.follow({
      changed: (some, { version }) => void told.push(`${some.map(({ id }) => id).join('+')} at ${version}`),
      reset: ({ version }) => void told.push(`reset at ${version}`),
    });
    return { store, told, changes };
  }

  /** Makes the database one that never had what came after the version, as an older copy of it is. */
  async function putBack(store: Store, version: number): Promise<void> {
    const [row] = await store.queries.all('SELECT mark FROM change_log WHERE version = $1', [version]);
    await store.writeUnlogged(async (writer) => {
      await writer.run('DELETE FROM change_log WHERE version > $1', [version]);
      await writer.run('UPDATE store_version SET version = $1, mark = $2', [version, Number(row?.[0])]);
    });
  }

  test('a database that was put back is noticed, also when it has grown past what was seen', async () => {
    const url = await newEmpty();
    const { store, told, changes } = await openTold(url);
    await using _ = store;
    await write(store, 'kept');
    await write(store, 'lost-1');
    await write(store, 'lost-2');
    {
      await using other = await openStore({ url, migrations: [], onFeedFault: () => {} });
      await putBack(other, 1);
    }
    {
      await using other = await openStore({ url, migrations: [], onFeedFault: () => {} });
      for (const id of ['a', 'b', 'c']) await write(other, id);
    }
    await until(() => told.includes('rebuilt'), 'it has started over');
    assert.equal(changes.length, 1);
    assert.deepEqual(
      changes[0]?.lost.map(({ version, kind, id }) => [version, kind, id]),
      [
        [2, 'thing', 'lost-1'],
        [3, 'thing', 'lost-2'],
      ],
    );
    await until(() => store.version === 4, 'it follows the history that there is');
    assert.ok(!store.isRebuilding);
    await write(store, 'd');
    assert.equal(told.at(-1), 'd at 5');
    assert.deepEqual([store.history.changes, store.history.lostChanges], [1, 2]);
  });

  test('a write that was let in by what is lost is refused, and the next one is taken', async () => {
    const url = await newEmpty();
    const { store, told } = await openTold(url);
    await using _ = store;
    await write(store, 'kept');
    await write(store, 'lost');
    await putBack(store, 1);
    const early = await write(store, 'early').catch((error: unknown) => error);
    // The process may have looked by itself before.
    if (!told.includes('reset at 1')) assert.ok(early instanceof StoreUnavailableError);
    await until(
      async () =>
        write(store, 'late').then(
          () => true,
          () => false,
        ),
      'writes are taken again',
    );
    assert.ok(told.includes('rebuilt'));
    assert.equal(store.history.last?.lost[0]?.id, 'lost');
  });

  test('until every follower goes by the history that there is, the process is rebuilding, and tries again', async () => {
    const url = await newEmpty();
    const { store, told, changes } = await openTold(url);
    await using _ = store;
    let failures = 2;
    store.follow({
      changed: () => {},
      reset: () => {
        if (failures-- > 0) throw new Error('not yet');
      },
    });
    await write(store, 'kept');
    await write(store, 'lost');
    await putBack(store, 1);
    await store.poll().catch(() => {});
    assert.deepEqual([store.isRebuilding, store.isStale], [true, true]);
    await until(() => told.includes('rebuilt'), 'it has started over');
    assert.ok(!store.isRebuilding);
    assert.equal(changes.length, 1, 'it is told once');
  });

  test('observed changes that were put back are noticed too', async () => {
    const url = await newEmpty();
    const { store, told } = await openTold(url);
    await using _ = store;
    const observe = (id: string) =>
      store.writeUnlogged(async (writer) => {
        writer.record({ accountId: 'ac', kind: 'seen', id });
      });
    await observe('a');
    await observe('b');
    await store.writeUnlogged(async (writer) => {
      await writer.run('DELETE FROM observed_changes WHERE version > 1');
      await writer.run('UPDATE observed_version SET version = 1, mark = (SELECT MAX(mark) FROM observed_changes)');
    });
    await store.poll();
    assert.deepEqual(told.slice(-2), ['reset at 0', 'rebuilt']);
    await observe('c');
    assert.equal(told.at(-1), 'c at 0');
  });
});

test('a point was seen if version and mark are those of a change, and not by its version alone', () => {
  const trail = new Trail();
  const change = { accountId: 'ac', kind: 'thing', id: 'x', before: null, after: '{}' };
  const at = (version: number, mark: number) => ({ version, mark });
  assert.equal(trail.has(at(7, 70)), false, 'nothing was seen');
  trail.add([{ ...change, at: at(7, 70) } as never, { ...change, at: at(8, 80) } as never]);
  assert.deepEqual(
    [at(7, 70), at(8, 80), at(7, 71), at(8, 70), at(9, 80)].map((point) => trail.has(point)),
    [true, true, false, false, false],
  );
});

test('of what is lost, deletions come first, and each change says what it was', async () => {
  const trail = new Trail();
  const change = (version: number, before: string | null, after: string | null) => ({
    at: { version, mark: 7 },
    accountId: 'ac_1',
    kind: 'api_key',
    id: `ak_${version}`,
    before,
    after,
    cascades: false,
  });
  trail.add([change(1, null, '{}'), change(2, '{}', '{}'), change(3, '{}', null), change(4, null, '{}')]);
  const lost = await trail.takeLost({ all: async () => [] }, 0);
  assert.deepEqual(
    lost.map(({ version, action }) => [version, action]),
    [
      [3, 'deleted'],
      [1, 'created'],
      [2, 'changed'],
      [4, 'created'],
    ],
  );
});
