import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { openStore } from '../../store/store.ts';
import type { Store } from '../../store/store.ts';
import { processCompiler } from './compile.ts';
import { Services } from '../services.ts';
import { createProcesses } from './registry.ts';
import { migrations, readProcesses } from './table.ts';

const quick = { beatMs: 100, followMs: 0 };
const still = { beatMs: 3_600_000, followMs: 0 };
const api = { kind: 'api', host: '127.0.0.1', port: 4040 } as const;
const tcp = { kind: 'tcp', host: '127.0.0.1', port: 0 } as const;

onDatabasesInTurn('the processes of an installation', (_newDatabase, newEmpty) => {
  /** Opens the database as one process does. */
  async function open(url: string): Promise<Store> {
    return openStore({ url, migrations, onFeedFault: () => {} });
  }

  const known = async (store: Store) => (await readProcesses(store.queries)).map(({ listeners }) => listeners);

  test('a process is known with its listeners from its registration to its end', async () => {
    const url = await newEmpty();
    await using one = await open(url);
    await using other = await open(url);
    {
      await using registration = await createProcesses(one, new Services(), quick).register({ listeners: [api] });
      assert.deepEqual(await known(other), [[api]]);
      await registration.update([{ ...api, port: 4041 }]);
      assert.deepEqual(await known(other), [[{ ...api, port: 4041 }]]);
    }
    assert.deepEqual(await known(other), []);
  });

  test('the others follow it at once, as entries of the snapshot, and the configuration keeps its version', async () => {
    const url = await newEmpty();
    await using one = await open(url);
    await using other = await open(url);
    const affected: string[] = [];
    other.follow({
      changed: (changes) => void affected.push(...changes.flatMap((change) => processCompiler.affectedIds(change))),
      reset: () => {},
    });
    await using running = new AsyncDisposableStack();
    running.use(await createProcesses(one, new Services(), still).register({ listeners: [api, tcp] }));
    await until(() => affected.length > 0, 'the registration is seen');
    const [entry] = await processCompiler.load(other.queries, affected);
    assert.ok(entry?.kind === 'running_process');
    assert.deepEqual(entry.listeners, [api, tcp]);
    assert.equal(other.version, 0);
    assert.ok(entry.addresses.every((address) => address !== '127.0.0.1' && address !== '::1'));
  });

  test('one that ended without a word is forgotten, and one that beats is not', async () => {
    const url = await newEmpty();
    await using one = await open(url);
    await using other = await open(url);
    await using running = new AsyncDisposableStack();
    running.use(await createProcesses(one, new Services(), still).register({ listeners: [api] }));
    running.use(await createProcesses(one, new Services(), quick).register({ listeners: [tcp] }));
    running.use(await createProcesses(other, new Services(), quick).register({ listeners: [] }));
    const left = async () =>
      (await known(other))
        .map((listeners) => JSON.stringify(listeners))
        .toSorted()
        .join(' ');
    await until(async () => (await left()) === `[] [${JSON.stringify(tcp)}]`, 'the dead one is removed, and no other');
  });

  test('one that was forgotten while it stood still is known again at its next beat', async () => {
    const url = await newEmpty();
    await using store = await open(url);
    await using running = new AsyncDisposableStack();
    running.use(await createProcesses(store, new Services(), { ...quick, beatMs: 300 }).register({ listeners: [api] }));
    await store.writeUnlogged(async (notes) => notes.run('DELETE FROM processes'));
    await until(async () => (await known(store)).length === 1, 'it is registered again');
  });

  test('a start waits for the gateways that run to follow, and for nothing else', async () => {
    const url = await newEmpty();
    await using store = await open(url);
    const slow = createProcesses(store, new Services(), { ...still, followMs: 5_000 });
    await using running = new AsyncDisposableStack();
    running.use(await slow.register({ listeners: [api] }));
    running.use(await slow.register({ listeners: [tcp] }));
    const waiting = slow.register({ listeners: [api] }).then(() => 'registered');
    const soon = new Promise((resolve) => setTimeout(resolve, 300, 'waits').unref());
    assert.equal(await Promise.race([waiting, soon]), 'waits');
  });

  test('one that stood still knows that the others may have forgotten it, until it is registered again', async () => {
    const url = await newEmpty();
    await using store = await open(url);
    await using running = new AsyncDisposableStack();
    const registration = running.use(
      await createProcesses(store, new Services(), { beatMs: 100, followMs: 50 }).register({ listeners: [api] }),
    );
    assert.equal(registration.isLapsed, false);
    await store.writeUnlogged(async (notes) => notes.run('DELETE FROM processes'));
    // Holds the process up for longer than two beats.
    for (const startMs = performance.now(); performance.now() - startMs < 500;);
    assert.equal(registration.isLapsed, true);
    await until(() => !registration.isLapsed, 'it has come back');
    assert.deepEqual(await known(store), [[api]]);
  });

  test('each says at its beats how it is, and the others can read it', async () => {
    const url = await newEmpty();
    await using one = await open(url);
    await using other = await open(url);
    await using running = new AsyncDisposableStack();
    const registry = createProcesses(one, new Services(), quick);
    const facts = { listeners: [tcp], role: 'gateway', version: '9.9.9' };
    const registration = running.use(await registry.register(facts));
    const listed = async () => (await createProcesses(other, new Services(), quick).list())[0];
    assert.deepEqual([(await listed())?.role, (await listed())?.version], ['gateway', '9.9.9']);
    let version = 1;
    const ports = Array.from({ length: 1_200 }, (_, at) => ({ accountId: 'ac', edgeId: 'e', port: at, reason: 'r' }));
    registration.reportWith(() => ({ configurationVersion: version, unopenedPorts: ports }));
    await until(async () => (await listed())?.status?.configurationVersion === 1, 'the first status is known');
    assert.equal((await listed())?.status?.unopenedPorts.length, 1_000);
    version = 2;
    assert.equal((await registry.list())[0]?.status?.configurationVersion, 2, 'its own status is that of now');
    await until(async () => (await listed())?.status?.configurationVersion === 2, 'the next status is known');
  });
});
