import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { test } from 'node:test';

import { until } from '../../test/e2e/gateway/support/until.ts';
import { onEachDatabase } from '../../test/support/each-database.ts';
import { keyOf } from '../snapshot/contract.ts';
import type { SnapshotEntry, SnapshotUpdate } from '../snapshot/contract.ts';
import { openStore } from '../store/store.ts';
import type { Store } from '../store/store.ts';
import { pruneChanges } from '../store/write/change-log.ts';
import type { Compiler } from './compiler.ts';
import { Publisher } from './publisher.ts';

const limit = { timeout: 120_000 };

/** A gate that is open unless it is shut, and counts those that wait. */
class Gate {
  #shut: PromiseWithResolvers<void> | undefined;
  #reached = Promise.withResolvers<void>();

  shut(): void {
    this.#shut = Promise.withResolvers();
    this.#reached = Promise.withResolvers();
  }

  /** Resolves when somebody waits at it. */
  get reached(): Promise<void> {
    return this.#reached.promise;
  }

  async pass(): Promise<void> {
    this.#reached.resolve();
    await this.#shut?.promise;
  }

  open(fault?: Error): void {
    if (fault === undefined) this.#shut?.resolve();
    else this.#shut?.reject(fault);
    this.#shut = undefined;
  }
}

/** Writes a change of a thing that an account has. A large one of account `c` takes as long to load as the gate is shut. */
function write(store: Store, accountId: string, kind: 'small' | 'large' | 'port', id: string): Promise<void> {
  const actor = { id: 'host', accountId, operationId: 'op_1' };
  return store.write(actor, async (transaction) => {
    transaction.record({ accountId, kind, id, before: null, after: '{}', cascades: false });
  });
}

/** Publishes things as entries, and keeps what is in force. */
async function publish(store: Store) {
  const gate = new Gate();
  const entries = new Map<string, SnapshotEntry>();
  const updates: SnapshotUpdate[] = [];
  const faults: unknown[] = [];
  let round = 0;
  const backend = (id: string): SnapshotEntry => ({ kind: 'backend', id, host: 'h', port: (round += 1), tls: false });
  const policy = (id: string): SnapshotEntry => ({ kind: 'challenge', id, hostname: String((round += 1)) });
  const edge = (id: string): SnapshotEntry => ({
    kind: 'tcp_edge',
    id,
    accountId: 'any',
    ports: [(round += 1)],
    modules: {},
  });
  const compiler = (kind: string, entry: (id: string) => SnapshotEntry, pass = async () => {}): Compiler => ({
    kind: entry('').kind,
    ...(kind === 'large' ? { mayTakeLong: true } : {}),
    affectedIds: (change) => (change.kind === kind ? [change.id] : []),
    async load(_queries, ids = []) {
      if (ids.some((id) => id.startsWith('c'))) await pass();
      return ids.map(entry);
    },
  });
  const publisher = await Publisher.start({
    store,
    compilers: [compiler('small', backend), compiler('port', edge), compiler('large', policy, () => gate.pass())],
    targets: [
      async (update) => {
        updates.push(update);
        if (update.full) entries.clear();
        for (const entry of update.set) entries.set(keyOf(entry), entry);
        for (const key of update.removed) entries.delete(keyOf(key));
      },
    ],
    onFault: (error) => faults.push(error),
  });
  const inForce = () => [...entries.values()].map(({ id }) => id);
  return { publisher, gate, updates, faults, inForce, [Symbol.asyncDispose]: () => publisher[Symbol.asyncDispose]() };
}

/** False while the promise is pending, however many turns of the event loop pass. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  void promise.then(
    () => (done = true),
    () => (done = true),
  );
  await sleep(100);
  return done;
}

onEachDatabase('the publisher', (_newDatabase, newEmpty) => {
  const open = (url: string) => openStore({ url, migrations: [], onFeedFault: () => {} });

  test(
    'writes of others do not wait while large entries of one account are loaded, and its own keep their order',
    limit,
    async () => {
      await using store = await open(await newEmpty());
      await using published = await publish(store);
      const { publisher, gate, inForce } = published;
      gate.shut();
      const large = write(store, 'c', 'large', 'c1');
      await gate.reached;
      const { version } = publisher;
      // The account has a line of its own from now on.
      await write(store, 'a', 'small', 'a1');
      const small = write(store, 'c', 'small', 'c2');
      await write(store, 'a', 'large', 'a2');
      assert.deepEqual(inForce(), ['a1', 'a2']);
      assert.deepEqual([await isDone(large), await isDone(small)], [false, false]);
      assert.deepEqual([publisher.version, publisher.lagging], [version, false], 'a version counts with all before it');
      gate.open();
      await Promise.all([large, small]);
      assert.deepEqual(inForce().toSorted(), ['a1', 'a2', 'c1', 'c2']);
      assert.equal(publisher.version, store.version);
      await write(store, 'c', 'large', 'c3');
      assert.ok(inForce().includes('c3'));
    },
  );

  test('changes of other processes do not wait either, and a look waits for all of them', limit, async () => {
    const url = await newEmpty();
    await using store = await open(url);
    await using other = await open(url);
    await using published = await publish(other);
    const { gate, inForce } = published;
    gate.shut();
    await write(store, 'c', 'large', 'c1');
    await write(store, 'a', 'small', 'a1');
    const looked = other.poll();
    await gate.reached;
    await write(other, 'b', 'small', 'b1');
    assert.deepEqual(inForce().toSorted(), ['a1', 'b1']);
    assert.equal(await isDone(looked), false);
    gate.open();
    await looked;
    assert.deepEqual(inForce().toSorted(), ['a1', 'b1', 'c1']);
  });

  test('large entries that cannot be loaded are tried again, and nobody else is told of it', limit, async () => {
    await using store = await open(await newEmpty());
    await using published = await publish(store);
    const { publisher, gate, inForce, faults } = published;
    gate.shut();
    const large = write(store, 'c', 'large', 'c1');
    await gate.reached;
    await write(store, 'a', 'small', 'a1');
    gate.open(new Error('away'));
    gate.shut();
    await assert.rejects(large, /away/);
    assert.equal(publisher.lagging, true);
    await gate.reached;
    const small = write(store, 'c', 'small', 'c2');
    await write(store, 'a', 'small', 'a2');
    assert.equal(await isDone(small), false);
    gate.open();
    await small;
    assert.deepEqual(inForce().toSorted(), ['a1', 'a2', 'c1', 'c2']);
    assert.deepEqual([publisher.lagging, publisher.version, faults.length], [false, store.version, 1]);
  });

  test('what was being loaded when everything was read anew is not put in force', limit, async () => {
    const url = await newEmpty();
    await using store = await open(url);
    await using other = await open(url);
    await using published = await publish(other);
    const { publisher, gate, inForce, updates } = published;
    gate.shut();
    const large = write(other, 'c', 'large', 'c1');
    await gate.reached;
    await write(other, 'a', 'small', 'a1');
    await store.writeUnlogged((writer) => pruneChanges(writer, '9999-01-01T00:00:00Z'));
    await write(store, 'a', 'small', 'a2');
    await until(() => updates.at(-1)?.full === true, 'everything is read anew');
    gate.open();
    await large;
    await write(other, 'c', 'small', 'c2');
    assert.deepEqual(inForce(), ['c2'], 'these compilers find nothing in the database');
    assert.equal(publisher.version, other.version);
  });

  test(
    'an entry with a claim that has come meanwhile comes again: its port may have been that of the account',
    limit,
    async () => {
      await using store = await open(await newEmpty());
      await using published = await publish(store);
      const { gate, updates } = published;
      gate.shut();
      const large = write(store, 'c', 'large', 'c1');
      await gate.reached;
      await write(store, 'a', 'port', 'a1');
      await write(store, 'a', 'small', 'a2');
      gate.open();
      await large;
      assert.deepEqual(
        updates
          .at(-1)
          ?.set.map(({ id }) => id)
          .toSorted(),
        ['a1', 'c1'],
      );
      await write(store, 'a', 'port', 'a3');
      assert.deepEqual(
        updates.at(-1)?.set.map(({ id }) => id),
        ['a3'],
      );
    },
  );
});
