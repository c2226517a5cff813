import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { BackendEntry, BalanceEntry } from '../../snapshot/contract.ts';
import type { BackendAddresses } from './backend-addresses.ts';
import { HealthTable } from './health-table.ts';
import type { Target } from './target.ts';

const base: BalanceEntry = {
  addresses: [1, 2, 3].map((port) => ({ host: 'a', port, weight: 1 })),
  by: 'round_robin',
  retries: 1,
  whenAllDown: 'fail_open',
  slowStartMs: 0,
};

function entryOf(balance: Partial<BalanceEntry>): BackendEntry {
  return { kind: 'backend', id: 'b', host: 'a', port: 1, tls: false, balance: { ...base, ...balance } };
}

function start(balance: Partial<BalanceEntry>) {
  const clock = { ms: 1_000_000 };
  const table = new HealthTable(
    () => {},
    () => clock.ms,
  );
  const apply = (changed: Partial<BalanceEntry>): BackendAddresses => {
    table.prepare({ version: 1, full: true, set: [entryOf(changed)], removed: [] })();
    const found = table.find('b');
    assert.ok(found);
    return found;
  };
  const addresses = apply(balance);
  const set = (port: number, isDown: boolean, trialMs?: number): void =>
    table.set([{ backendId: 'b', address: `a:${port}`, isDown, isFailing: isDown, trialMs }]);
  return { addresses, set, clock, apply, table };
}

const from = (source: string, user?: string) => ({ source: () => source, header: () => user });
const visitor = from('192.0.2.1');

function drawn(addresses: BackendAddresses, rounds: number, facts = visitor): readonly number[] {
  const counts = [0, 0, 0];
  for (let round = 0; round < rounds; round++) {
    const port = addresses.choose(facts, [])?.port;
    if (port !== undefined) counts[port - 1] = (counts[port - 1] ?? 0) + 1;
  }
  return counts;
}

test('round robin gives each its turn, and by weights each its share', () => {
  assert.deepEqual(drawn(start({}).addresses, 300), [100, 100, 100]);
  const weights = [5, 1, 0].map((weight, at) => ({ host: 'a', port: at + 1, weight }));
  const [five = 0, one = 0, none] = drawn(start({ addresses: weights }).addresses, 600);
  assert.equal(none, 0);
  assert.ok(Math.abs(five - 500) <= 5 && five + one === 600, `${five} ${one}`);
});

test('one that is down gets nothing, and those that are up its share', () => {
  const { addresses, set } = start({});
  set(2, true);
  assert.deepEqual(drawn(addresses, 300), [150, 0, 150]);
  set(2, false);
  assert.deepEqual(drawn(addresses, 300), [100, 100, 100]);
});

test('where all are down all are tried, or none', () => {
  for (const whenAllDown of ['fail_open', 'fail_closed'] as const) {
    const { addresses, set, table } = start({ whenAllDown });
    for (const port of [1, 2, 3]) set(port, true);
    assert.equal(table.isDown('b'), true);
    assert.deepEqual(drawn(addresses, 30), whenAllDown === 'fail_open' ? [10, 10, 10] : [0, 0, 0]);
    // One that comes back and fails is followed by none that is down, or by any.
    set(2, false);
    const [, second] = addresses.all;
    assert.ok(second);
    assert.equal(addresses.choose(visitor, [second]) === undefined, whenAllDown === 'fail_closed');
  }
});

test('one request tries an address after its time, and the others do not', () => {
  const { addresses, set, clock } = start({ passive: { failures: 1, statuses: [], downMs: 10_000 } });
  set(1, true, 10_000);
  assert.equal(drawn(addresses, 100)[0], 0);
  clock.ms += 10_001;
  assert.equal(drawn(addresses, 100)[0], 1);
  clock.ms += 10_001;
  assert.equal(drawn(addresses, 100)[0], 1);
  // What is heard of it meanwhile does not put the next trial off.
  clock.ms += 6_000;
  set(1, true, 10_000);
  clock.ms += 4_001;
  assert.equal(drawn(addresses, 100)[0], 1);
  // Without a time, only checks bring it back.
  set(2, true);
  clock.ms += 1_000_000;
  assert.equal(drawn(addresses, 100)[1], 0);
});

test('every address is tried once for one request, those that are down last', () => {
  const { addresses, set } = start({});
  set(3, true);
  const tried: Target[] = [];
  for (let next = addresses.choose(visitor, tried); next; next = addresses.choose(visitor, tried)) tried.push(next);
  assert.deepEqual(
    tried.map(({ port }) => port).toSorted((a, b) => a - b),
    [1, 2, 3],
  );
  assert.equal(tried[2]?.port, 3);
  assert.equal(addresses.choose(visitor, tried.slice(0, 2), true), undefined);
});

test('the one of two with fewer connections for its weight is taken', () => {
  const { addresses } = start({ by: 'least_connections', addresses: base.addresses.slice(0, 2) });
  const [first, second] = addresses.all;
  assert.ok(first && second);
  first.inUse = 3;
  assert.deepEqual(drawn(addresses, 50), [0, 50, 0]);
  second.inUse = 4;
  assert.deepEqual(drawn(addresses, 50), [50, 0, 0]);
});

test('a source or the value of a header stays with its address, and only those of a lost address move', () => {
  const { addresses, set } = start({ by: 'header', header: 'x-user' });
  const users = Array.from({ length: 300 }, (_, at) => from('192.0.2.1', `user-${at}`));
  const place = () => users.map((user) => addresses.choose(user, [])?.port);
  const before = place();
  assert.deepEqual(place(), before);
  for (const port of [1, 2, 3]) assert.ok(before.filter((each) => each === port).length > 60, `${port}`);
  set(2, true);
  const after = place();
  assert.ok(!after.includes(2));
  for (const [at, port] of before.entries()) if (port !== 2) assert.equal(after[at], port);
  set(2, false);
  assert.deepEqual(place(), before);
  // Another process, and one without the header.
  assert.deepEqual(
    users.map((user) => start({ by: 'header', header: 'x-user' }).addresses.choose(user, [])?.port),
    before,
  );
  const bySource = start({ by: 'source' }).addresses.choose(visitor, [])?.port;
  assert.equal(addresses.choose(visitor, [])?.port, bySource);
});

test('an address that came back grows to its share', () => {
  const { addresses, set, clock } = start({ slowStartMs: 10_000 });
  assert.deepEqual(drawn(addresses, 300), [100, 100, 100]);
  set(1, true);
  set(1, false);
  const [cold = 0] = drawn(addresses, 3000);
  assert.ok(cold > 0 && cold < 300, `${cold}`);
  clock.ms += 5_000;
  const [warm = 0] = drawn(addresses, 3000);
  assert.ok(warm > cold && warm < 800, `${warm}`);
  clock.ms += 5_000;
  assert.deepEqual(drawn(addresses, 300), [100, 100, 100]);
});

test('a change of the backend keeps what is known of the addresses that stay', () => {
  const { addresses, set, apply } = start({});
  const [first] = addresses.all;
  assert.ok(first);
  set(1, true);
  first.inUse = 2;
  const changed = apply({ addresses: [...base.addresses, { host: 'a', port: 4, weight: 1 }], by: 'least_connections' });
  assert.equal(changed.all[0], first);
  assert.equal(drawn(changed, 100)[0], 0);
  const weighed = apply({ addresses: base.addresses.map((each) => ({ ...each, weight: each.port - 1 })) });
  assert.equal(weighed.all[0], first);
  set(1, false);
  const [none, one = 0, two = 0] = drawn(weighed, 300);
  assert.ok(none === 0 && Math.abs(one - 100) <= 5 && one + two === 300, 'weights are those of the change');
});

test('an address that is reached by TLS from now on is another one, and nothing is known of it', () => {
  const { addresses, set, table } = start({});
  set(1, true);
  table.prepare({ version: 2, full: false, set: [{ ...entryOf({}), tls: true }], removed: [] })();
  const after = table.find('b')?.all ?? [];
  assert.deepEqual(
    after.map(({ tls, isDown }) => [tls, isDown]),
    Array.from({ length: 3 }, () => [true, false]),
  );
  assert.ok(after.every((target) => !addresses.all.includes(target)));
});

test('a range of statuses that count as failures has both of its ends', () => {
  const { addresses } = start({ passive: { failures: 1, statuses: [[500, 502]], downMs: 1_000 } });
  assert.deepEqual(
    [499, 500, 502, 503].map((status) => addresses.isFailure(status)),
    [false, true, true, false],
  );
});

test('sources and values of a header are spread by weights', () => {
  const addresses = [6, 3, 0].map((weight, at) => ({ host: 'a', port: at + 1, weight }));
  for (const by of ['source', 'header'] as const) {
    const { addresses: all } = start({ by, header: 'x-user', addresses });
    const counts = [0, 0, 0];
    for (let at = 0; at < 900; at++) {
      const [place = 0] = drawn(all, 1, from(`192.0.2.${by === 'source' ? at : 1}`, `user-${at}`)).flatMap((n, port) =>
        n > 0 ? [port] : [],
      );
      counts[place] = (counts[place] ?? 0) + 1;
    }
    const [six = 0, three = 0, none] = counts;
    assert.equal(none, 0);
    assert.ok(six > 540 && six < 660 && six + three === 900, `${by}: ${counts.join()}`);
  }
});

test('fewer connections for the weight, not fewer alone, make an address the next', () => {
  const addresses = [10, 1].map((weight, at) => ({ host: 'a', port: at + 1, weight }));
  const { addresses: all } = start({ by: 'least_connections', addresses });
  const [heavy, light] = all.all;
  assert.ok(heavy && light);
  heavy.inUse = 5;
  light.inUse = 1;
  const [ofHeavy = 0, ofLight = 0] = drawn(all, 400);
  // Two draws of the light one happen by chance alone.
  assert.ok(ofHeavy > 360 && ofLight < 40, `${ofHeavy} ${ofLight}`);
});
