import assert from 'node:assert/strict';
import { test } from 'node:test';

import { pino } from 'pino';

import { readConfig } from '../../../src/config/config.ts';
import { openContext } from '../../../src/start/open-context.ts';
import { watchReadiness } from '../../../src/start/readiness.ts';
import { Publisher } from '../../../src/publisher/publisher.ts';
import { resources } from '../../../src/resources/index.ts';
import { ipPolicies } from '../../../src/resources/ip-policies/table.ts';
import { bootstrap } from '../../../src/resources/principals/service.ts';
import type { SnapshotUpdate } from '../../../src/snapshot/contract.ts';
import { newSqlite } from '../../support/scratch.ts';

test('a target that cannot take an update gets it with the next one, and no version is reported as in force before', async () => {
  const context = await openContext(readConfig({}, { databaseUrl: newSqlite() }), pino({ level: 'silent' }));
  await using store = context.store;
  await context.services.get(bootstrap).run('the-token-of-somebody-0123456789-abcdef');
  const [account] = await store.queries.all('SELECT id FROM accounts');
  const actor = { id: 'host', accountId: String(account?.[0]), operationId: 'op_1' };
  const insert = () =>
    store.write(actor, (transaction) => ipPolicies.insert(transaction, ipPolicies.newDocument(actor.accountId)));
  const taken: SnapshotUpdate[] = [];
  const published: number[] = [];
  const faults: number[] = [];
  let isFull = false;
  const publisher = await Publisher.start({
    store,
    compilers: resources.flatMap((resource) => resource.compilers?.(context) ?? []),
    targets: [
      async () => {},
      async (update) => {
        if (isFull) throw new Error('full');
        taken.push(update);
      },
    ],
    onFault: (_error, version) => faults.push(version),
    onPublished: (version) => published.push(version),
  });
  assert.deepEqual([published, publisher.lagging], [[store.version], false]);

  isFull = true;
  const first = await insert();
  const second = await insert();
  assert.deepEqual(faults, [store.version - 1, store.version]);
  assert.deepEqual([published.length, publisher.lagging], [1, true]);

  isFull = false;
  const third = await insert();
  assert.deepEqual([published.at(-1), publisher.lagging], [store.version, false]);
  const ids = taken.at(-1)?.set.map(({ id }) => id) ?? [];
  assert.deepEqual(ids.toSorted(), [first.id, second.id, third.id].toSorted());
});

test('a process that is written to all the time stays ready: no update that is under way makes it unready', async () => {
  const context = await openContext(readConfig({}, { databaseUrl: newSqlite() }), pino({ level: 'silent' }));
  await using store = context.store;
  await context.services.get(bootstrap).run('the-token-of-somebody-0123456789-abcdef');
  const [account] = await store.queries.all('SELECT id FROM accounts');
  const actor = { id: 'host', accountId: String(account?.[0]), operationId: 'op_1' };
  const answers: (string | undefined)[] = [];
  const clock = { ms: 0 };
  let readiness: ReturnType<typeof watchReadiness> | undefined;
  await using publisher = await Publisher.start({
    store,
    compilers: resources.flatMap((resource) => resource.compilers?.(context) ?? []),
    // Asked in the middle of each update, which is when the writes of a busy process meet the question.
    targets: [
      async () => {
        answers.push(readiness?.unready());
        clock.ms += 50;
        answers.push(readiness?.unready());
      },
    ],
    onFault: assert.ifError,
    now: () => clock.ms,
  });
  const watched = {
    context,
    publisher,
    gateway: undefined,
    entryFaults: { count: 0 },
    listenerFaults: { list: () => [] },
  };
  readiness = watchReadiness(watched, () => true);
  const policies = Array.from({ length: 45 }, () => ipPolicies.newDocument(actor.accountId));
  for (const policy of policies) await store.write(actor, (transaction) => ipPolicies.insert(transaction, policy));
  assert.ok(answers.length >= 2 * policies.length);
  assert.deepEqual(new Set(answers), new Set([undefined]));
});

test(
  'an update that is under way is no fault, one that takes longer than a second or has failed is',
  { timeout: 240_000 },
  async () => {
    const context = await openContext(readConfig({}, { databaseUrl: newSqlite() }), pino({ level: 'silent' }));
    await using store = context.store;
    let last: PromiseWithResolvers<void> | undefined;
    // Ends the update under way where the test fails: the store waits for it.
    using cleanup = new DisposableStack();
    cleanup.defer(() => last?.resolve());
    await context.services.get(bootstrap).run('the-token-of-somebody-0123456789-abcdef');
    const [account] = await store.queries.all('SELECT id FROM accounts');
    const actor = { id: 'host', accountId: String(account?.[0]), operationId: 'op_1' };
    const insert = () =>
      store.write(actor, (transaction) => ipPolicies.insert(transaction, ipPolicies.newDocument(actor.accountId)));
    const clock = { ms: 0 };
    let take: (() => Promise<void>) | undefined;
    const publisher = await Publisher.start({
      store,
      compilers: resources.flatMap((resource) => resource.compilers?.(context) ?? []),
      targets: [async () => take?.()],
      onFault: () => {},
      now: () => clock.ms,
    });
    /** Begins a write whose update is taken when the returned function is called. */
    const begin = async () => {
      const [reached, taken] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      last = taken;
      take = () => {
        reached.resolve();
        return taken.promise;
      };
      const written = insert();
      await reached.promise;
      return { written, taken };
    };
    for (let round = 0; round < 3; round++) {
      const { written, taken } = await begin();
      clock.ms += 999;
      assert.equal(publisher.lagging, false, 'under way');
      taken.resolve();
      await written;
      assert.equal(publisher.lagging, false);
    }
    const slow = await begin();
    clock.ms += 1000;
    assert.equal(publisher.lagging, true, 'late');
    slow.taken.resolve();
    await slow.written;
    assert.equal(publisher.lagging, false);
    const failed = await begin();
    failed.taken.reject(new Error('full'));
    await failed.written;
    assert.equal(publisher.lagging, true, 'failed');
    const next = await begin();
    assert.equal(publisher.lagging, true, 'failed before, and not made up for yet');
    next.taken.resolve();
    await next.written;
    assert.equal(publisher.lagging, false);
  },
);
