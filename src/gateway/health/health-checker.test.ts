import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { silentNames } from '../../../test/gateway/support/silent-names.ts';
import type { ActiveCheckEntry, BackendEntry, EntryKey } from '../../snapshot/contract.ts';
import { createUpstream } from '../upstream/create-upstream.ts';
import type { UpstreamParts } from '../upstream/create-upstream.ts';
import type { HealthNote } from './health-board.ts';
import { HealthChecker } from './health-checker.ts';

const limit = { timeout: 180_000 };
const base: ActiveCheckEntry = {
  kind: 'http',
  path: '/',
  statuses: [[200, 299]],
  intervalMs: 1000,
  timeoutMs: 1000,
  failures: 1,
  passes: 1,
};

/** A checker whose clock stands still until `pass` moves it, before one upstream that tells the checks apart by their paths. */
async function start(t: TestContext, parts: Pick<UpstreamParts, 'lookup'> = {}) {
  const asked = new Map<string, number>();
  const open = new Map<string, number>();
  const silent = { accounts: new Set<string>() };
  const failing = new Set<string>();
  const endless = new Set<string>();
  const server = createServer((request, response) => {
    const account = request.url?.split('/')[1] ?? '';
    response.statusCode = failing.has(account) ? 500 : 200;
    if (endless.has(account)) response.write('more comes');
    else if (!silent.accounts.has(account)) response.end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const inward = { listeners: [], publicPorts: [], ownAddresses: {}, allowLinkLocal: false, networkId: '' };
  const { connect } = createUpstream({ ...parts, options: { inward }, observer: { backendRefused: () => {} } });
  const counted: typeof connect = (target, ...more) => {
    const [account = '', name = ''] = target.id.split('-');
    const url = `/${account}/${name}`;
    const count = (by: number): void => {
      for (const key of [account, url]) open.set(key, (open.get(key) ?? 0) + by);
    };
    asked.set(url, (asked.get(url) ?? 0) + 1);
    count(1);
    return connect(target, ...more).on('close', () => count(-1));
  };
  const notes: HealthNote[] = [];
  const clock = { ms: 0 };
  const checker = new HealthChecker(
    counted,
    (note) => notes.push(note),
    () => clock.ms,
  );
  t.after(() => {
    checker.run(false);
    server.close().closeAllConnections();
  });
  const entry = (
    accountId: string,
    name: string,
    settings: Partial<ActiveCheckEntry>,
    host = '127.0.0.1',
  ): BackendEntry => ({
    kind: 'backend',
    id: `${accountId}-${name}`,
    accountId,
    host,
    port,
    tls: false,
    balance: {
      addresses: [{ host, port, weight: 1 }],
      by: 'round_robin',
      retries: 1,
      whenAllDown: 'fail_open',
      slowStartMs: 0,
      active: { ...base, path: `/${accountId}/${name}`, ...settings },
    },
  });
  const apply = (set: readonly BackendEntry[], removed: readonly EntryKey[] = [], full = false): void =>
    checker.prepare({ version: 1, full, set, removed })();
  const timesOf = (url: string): number => asked.get(url) ?? 0;
  const seen = (url: string, times: number) => until(() => timesOf(url) >= times, `${url} is asked ${times} times`);
  return {
    checker,
    entry,
    apply,
    seen,
    timesOf,
    notes,
    silent: silent.accounts,
    failing,
    /** Accounts whose upstream never ends its answers. */
    endless,
    /** Checks of an account, or of one address by its path, that are under way. */
    openOf: (accountOrUrl: string) => open.get(accountOrUrl) ?? 0,
    pass: (ms: number) => (clock.ms += ms),
  };
}

type Started = Awaited<ReturnType<typeof start>>;

const many = ({ entry }: Started, account: string, count: number, settings: Partial<ActiveCheckEntry>) =>
  Array.from({ length: count }, (_, at) => entry(account, `${at}`, settings));

/** Lets intervals of the account's check pass, one after another: each check ends before the next is due. */
async function passIntervals(all: Started, url: string, intervals: number): Promise<void> {
  for (let round = 0; round < intervals; round++) {
    const before = all.timesOf(url);
    all.pass(base.intervalMs);
    await all.seen(url, before + 1);
    await until(() => all.openOf(url.split('/')[1] ?? '') === 0, 'the check is over');
  }
}

test('addresses that never answer keep no place from the checks of another account', limit, async (t) => {
  const all = await start(t);
  all.checker.run(true);
  const dead = ['b', 'c', 'd', 'e'];
  for (const account of dead) {
    all.silent.add(account);
    all.apply(many(all, account, 300, { timeoutMs: 3_600_000, intervalMs: 1000 }));
  }
  for (let step = 0; step < 12; step++) {
    all.pass(200);
    await new Promise((resolve) => setTimeout(resolve, 250));
  }
  await until(() => dead.every((account) => all.openOf(account) >= 40), 'all four have many under way');
  all.apply([all.entry('a', 'x', {})]);
  await passIntervals(all, '/a/x', 5);
  const held = dead.map((account) => all.openOf(account));
  assert.ok(
    held.every((count) => count <= 128),
    held.join(),
  );
  assert.ok(all.notes.filter(({ backendId }) => backendId === 'a-x').every(({ ok }) => ok));
});

test('there is a place for the next account, however many have dead addresses', limit, async (t) => {
  const all = await start(t);
  all.checker.run(true);
  const dead = Array.from({ length: 255 }, (_, at) => `b${at}`);
  for (const account of dead) {
    all.silent.add(account);
    all.apply(many(all, account, 2, { timeoutMs: 3_600_000, intervalMs: 1000 }));
  }
  all.pass(1000);
  await until(() => dead.every((account) => all.openOf(account) === 1), 'each has one under way');
  all.apply([all.entry('a', 'x', {})]);
  await passIntervals(all, '/a/x', 4);
  assert.ok(dead.every((account) => all.openOf(account) === 1));
});

test('an account that is alone has half of the places, and all of its checks get their turn', limit, async (t) => {
  const all = await start(t);
  all.checker.run(true);
  all.silent.add('b');
  all.apply(many(all, 'b', 300, { timeoutMs: 60_000, intervalMs: 60_000 }));
  all.pass(59_000);
  await until(() => all.openOf('b') === 128, 'half of the places are taken');
  all.apply([all.entry('a', 'x', {})]);
  await passIntervals(all, '/a/x', 2);
  assert.equal(all.openOf('b'), 128);
  // The first are given up, and the next take their places.
  for (let round = 0; round < 2; round++) {
    all.pass(60_000);
    const from = 128 * (round + 1);
    await all.seen(`/b/${Math.min(299, from + 127)}`, 1);
  }
  for (let at = 0; at < 300; at++) assert.ok(all.timesOf(`/b/${at}`) >= 1, `${at}`);
});

test('a check that waits is not made again for the time in which it has waited', limit, async (t) => {
  const all = await start(t);
  all.checker.run(true);
  all.silent.add('b');
  all.apply(many(all, 'b', 200, { timeoutMs: 1_000_000, intervalMs: 1000 }));
  all.apply([all.entry('a', 'x', {})]);
  await passIntervals(all, '/a/x', 8);
  assert.equal(all.openOf('b') < 200, true);
  // Nothing answers for so long that all are given up; from then on all answer.
  all.silent.delete('b');
  all.pass(1_000_000);
  await all.seen('/a/x', 9);
  await until(() => all.notes.filter(({ ok, backendId }) => ok && backendId !== 'a-x').length === 200, 'all answer');
  for (let at = 0; at < 200; at++) assert.ok(all.timesOf(`/b/${at}`) <= 2, `${at}: ${all.timesOf(`/b/${at}`)}`);
});

test('a check that waits for the names of other accounts says nothing of its address', limit, async (t) => {
  const names = silentNames();
  const all = await start(t, { lookup: names.lookup });
  all.checker.run(true);
  all.apply(
    ['b', 'c'].flatMap((account) =>
      [1, 2, 3].map((at) => all.entry(account, `${at}`, {}, `${account}${at}.silent.test`)),
    ),
  );
  all.pass(base.intervalMs);
  await until(() => names.asked.length === 2, 'both threads are taken');
  all.apply([all.entry('a', 'x', {}, 'app.test')]);
  for (let round = 1; round <= 3; round++) {
    all.pass(base.intervalMs);
    await all.seen('/a/x', round);
  }
  assert.deepEqual(names.asked.toSorted(), ['b1.silent.test', 'c1.silent.test']);
  assert.deepEqual(all.notes.map(({ backendId, ok }) => `${backendId} ${ok}`).toSorted(), ['b-1 false', 'c-1 false']);
  all.pass(base.timeoutMs / 2);
  const noteOf = () => all.notes.find(({ backendId }) => backendId === 'a-x');
  await until(() => {
    names.giveUp();
    return noteOf() !== undefined;
  }, 'its turn has come');
  assert.ok(all.notes.every(({ backendId, ok }) => ok === (backendId === 'a-x')));
  const note = noteOf();
  // The time in which it has waited is not that of its address.
  assert.equal(note?.from === 'check' && note.tookMs, 0);
  all.checker.run(false);
  names.giveUp();
});

test('an address that does not answer is given up after its time, and checked again', limit, async (t) => {
  const all = await start(t);
  all.checker.run(true);
  all.silent.add('b');
  all.apply([all.entry('b', 'x', { timeoutMs: 2000, intervalMs: 3000 }), all.entry('a', 'x', {})]);
  all.pass(200);
  await all.seen('/b/x', 1);
  await passIntervals(all, '/a/x', 1);
  assert.equal(all.openOf('b'), 1, 'a second later it is not given up');
  all.pass(1000);
  await until(() => all.notes.some(({ backendId }) => backendId === 'b-x'), 'it is given up');
  const note = all.notes.find(({ backendId }) => backendId === 'b-x');
  assert.deepEqual([note?.ok, note?.cause], [false, 'it did not answer within 2 s']);
  await until(() => all.openOf('b') === 0, 'its connection is closed');
  assert.equal(all.timesOf('/b/x'), 1);
  all.pass(1000);
  await all.seen('/b/x', 2);
});

test('a check closes its connection once it knows, though the address keeps it open', limit, async (t) => {
  const all = await start(t);
  all.checker.run(true);
  all.endless.add('a');
  all.apply([all.entry('a', 'x', {}), all.entry('b', 'x', { kind: 'tcp' })]);
  await passIntervals(all, '/a/x', 2);
  await all.seen('/b/x', 2);
  await until(() => all.openOf('a') + all.openOf('b') === 0, 'both are closed');
  assert.ok(all.notes.length === 2 && all.notes.every(({ ok }) => ok));
});

test('checks of what is deleted, changed or switched off end at once, waiting and under way', limit, async (t) => {
  const all = await start(t);
  all.checker.run(true);
  all.silent.add('b');
  const [first, ...others] = many(all, 'b', 200, { timeoutMs: 60_000, intervalMs: 1000 });
  assert.ok(first);
  all.apply([first]);
  all.pass(200);
  await all.seen('/b/0', 1);
  all.apply(others);
  all.pass(1000);
  await until(() => all.openOf('b') === 128, 'places are taken, and others wait');
  all.apply([all.entry('b', '0', { intervalMs: 2000 })]);
  // One of those that wait takes its place a moment later.
  await until(() => all.openOf('/b/0') === 0, 'the former check is given up');
  all.apply(
    [],
    others.map(({ kind, id }) => ({ kind, id })),
  );
  await until(() => all.openOf('b') === 0, 'those under way are given up');
  const before = others.map((_, at) => all.timesOf(`/b/${at + 1}`));
  all.pass(200);
  await all.seen('/b/0', 2);
  all.apply([all.entry('a', 'x', {})], [{ kind: 'backend', id: first.id }]);
  await passIntervals(all, '/a/x', 3);
  assert.deepEqual(
    others.map((_, at) => all.timesOf(`/b/${at + 1}`)),
    before,
  );
  assert.equal(all.timesOf('/b/0'), 2);
  all.apply([all.entry('a', 'y', {})], [], true);
  await passIntervals(all, '/a/y', 1);
  const left = all.timesOf('/a/x');
  await passIntervals(all, '/a/y', 2);
  assert.equal(all.timesOf('/a/x'), left);
  assert.ok(
    all.notes.every(({ ok }) => ok),
    'nothing was said of what was given up',
  );
});

test('only one process of a gateway makes checks, from the moment at which it is told to', limit, async (t) => {
  const all = await start(t);
  all.apply(many(all, 'a', 3, {}));
  const other = await start(t);
  other.apply([other.entry('z', 'z', {})]);
  other.checker.run(true);
  for (const each of [all, other]) each.pass(1000);
  await other.seen('/z/z', 1);
  assert.equal(all.timesOf('/a/0'), 0);
  all.checker.run(true);
  all.pass(1000);
  for (const at of [0, 1, 2]) await all.seen(`/a/${at}`, 1);
  all.checker.run(false);
  for (const each of [all, other]) each.pass(5000);
  await other.seen('/z/z', 2);
  assert.deepEqual(
    [0, 1, 2].map((at) => all.timesOf(`/a/${at}`)),
    [1, 1, 1],
  );
  all.checker.run(true);
  all.pass(1000);
  for (const at of [0, 1, 2]) await all.seen(`/a/${at}`, 2);
});

test('checks that come together are spread over their interval, and stay so', limit, async (t) => {
  const all = await start(t);
  all.checker.run(true);
  all.apply(many(all, 'a', 5, {}));
  const counts = () => [0, 1, 2, 3, 4].map((at) => all.timesOf(`/a/${at}`));
  for (let round = 0; round < 2; round++) {
    for (let at = 0; at < 5; at++) {
      all.pass(200);
      await all.seen(`/a/${at}`, round + 1);
      assert.deepEqual(
        counts(),
        [0, 1, 2, 3, 4].map((each) => (each <= at ? round + 1 : round)),
      );
      await until(() => all.openOf('a') === 0, 'it is over');
    }
  }
});

test('a result is told when it is another than before, and else once a minute', limit, async (t) => {
  const all = await start(t);
  all.checker.run(true);
  all.apply([all.entry('a', 'x', { failures: 2, passes: 1 })]);
  const told = () => all.notes.map((note) => [note.ok, note.from === 'check' && note.streak, note.cause]);
  await passIntervals(all, '/a/x', 5);
  assert.deepEqual(told(), [
    [true, 1, undefined],
    [true, 2, undefined],
  ]);
  all.pass(59_000);
  await passIntervals(all, '/a/x', 1);
  assert.equal(told().length, 3);
  const [, , [, streak] = []] = told();
  assert.ok(Number(streak) >= 6, `${streak}`);
  all.failing.add('a');
  await passIntervals(all, '/a/x', 4);
  all.failing.delete('a');
  await passIntervals(all, '/a/x', 1);
  assert.deepEqual(told().slice(3), [
    [false, 1, 'it answered 500'],
    [false, 2, 'it answered 500'],
    [true, 1, undefined],
  ]);
});
