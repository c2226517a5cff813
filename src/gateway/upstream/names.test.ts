import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { Names } from './names.ts';
import type { NameUser } from './names.ts';

type Answer = (error: Error | null, addresses: readonly string[]) => void;

/** Names before a resolver that answers when `answer` says so, and a clock that stands still until `pass` moves it. */
function start(t: TestContext) {
  const clock = { ms: 1_000_000 };
  t.mock.method(performance, 'now', () => clock.ms);
  const asked: string[] = [];
  const open = new Map<string, Answer>();
  const names = new Names((name, _options, callback) => {
    asked.push(name);
    open.set(name, (error, addresses) => callback(error, addresses as never));
  });
  const find = (accountId: string, name: string) => {
    const seen = { hasBegun: false, found: undefined as readonly string[] | undefined, error: '' };
    const user: NameUser = {
      accountId,
      begun: () => (seen.hasBegun = true),
      done: (error, addresses) => {
        seen.error = error?.message ?? '';
        seen.found = addresses.map(({ address }) => address);
      },
    };
    names.find(name, {}, user);
    return Object.assign(seen, { leave: () => names.leave(name, user) });
  };
  const answer = (name: string, addresses: readonly string[] | Error = ['192.0.2.1']): void => {
    const done = open.get(name);
    open.delete(name);
    assert.ok(done, `${name} is asked for`);
    if (addresses instanceof Error) done(addresses, []);
    else done(null, addresses.map((address) => ({ address, family: 4 })) as never);
  };
  return { asked, find, answer, pass: (ms: number) => void (clock.ms += ms) };
}

test('names whose servers are silent keep one place, however many an account has, and the names of others are found', (t) => {
  const { asked, find, answer } = start(t);
  const silent = Array.from({ length: 12 }, (_, at) => find('b', `h${at}.test`));
  const good = find('a', 'good.test');
  assert.deepEqual(asked, ['h0.test', 'good.test']);
  answer('good.test');
  assert.deepEqual(good.found, ['192.0.2.1']);
  assert.deepEqual(
    silent.map(({ hasBegun }) => hasBegun),
    silent.map((_, at) => at === 0),
    'one is under way, and the others wait',
  );
  answer('h0.test', new Error('no answer'));
  assert.equal(silent[0]?.error, 'no answer');
  assert.deepEqual(asked, ['h0.test', 'good.test', 'h1.test']);
});

test('two names are under way at most, and accounts take turns', (t) => {
  const { asked, find, answer } = start(t);
  for (const account of ['a', 'b', 'c']) for (const at of [1, 2]) find(account, `${account}${at}.test`);
  assert.deepEqual(asked, ['a1.test', 'b1.test']);
  for (const next of [
    ['a1.test', 'a2.test'],
    ['b1.test', 'b2.test'],
    ['a2.test', 'c1.test'],
    ['c1.test', 'c2.test'],
  ]) {
    const [done = '', begun] = next;
    answer(done);
    assert.equal(asked.at(-1), begun);
  }
  assert.equal(asked.length, 6);
});

test('accounts whose names were slow lately have one place together for a minute', (t) => {
  const { asked, find, answer, pass } = start(t);
  find('b', 'b1.test');
  find('c', 'c1.test');
  pass(10_000);
  answer('b1.test', new Error('no answer'));
  answer('c1.test', new Error('no answer'));
  find('b', 'b2.test');
  find('c', 'c2.test');
  assert.deepEqual(asked.slice(2), ['b2.test'], 'those of one such account');
  for (const name of ['good.test', 'more.test']) {
    find('a', name);
    answer(name);
  }
  assert.deepEqual(asked.slice(2), ['b2.test', 'good.test', 'more.test']);
  answer('b2.test');
  assert.deepEqual(asked.slice(5), ['c2.test']);
  answer('c2.test');
  pass(60_000);
  find('b', 'b3.test');
  find('c', 'c3.test');
  assert.deepEqual(asked.slice(6), ['b3.test', 'c3.test'], 'a minute later they are like others');
});

test('a name that is slow for the first time takes the one place of those that were slow', (t) => {
  const { asked, find, answer, pass } = start(t);
  find('b', 'b1.test');
  pass(1_001);
  answer('b1.test');
  find('c', 'c1.test');
  pass(1_001);
  find('b', 'b2.test');
  assert.deepEqual(asked, ['b1.test', 'c1.test']);
  answer('c1.test');
  assert.deepEqual(asked, ['b1.test', 'c1.test', 'b2.test']);
});

test('equal names that are asked for at the same time share a lookup, and what was found serves for a second', async (t) => {
  const { asked, find, answer, pass } = start(t);
  const own = [find('a', 'x.test'), find('a', 'x.test')];
  const others = find('b', 'x.test');
  // Those of one account share one that waits too.
  find('c', 'c.test');
  const waiting = [find('a', 'y.test'), find('a', 'y.test')];
  assert.deepEqual(asked, ['x.test', 'c.test']);
  answer('x.test', ['192.0.2.1', '192.0.2.2']);
  for (const { found, hasBegun } of [...own, others])
    assert.deepEqual([found, hasBegun], [['192.0.2.1', '192.0.2.2'], true]);
  answer('y.test');
  for (const { found } of waiting) assert.deepEqual(found, ['192.0.2.1']);
  assert.deepEqual(asked, ['x.test', 'c.test', 'y.test']);
  pass(999);
  const again = find('a', 'x.test');
  assert.deepEqual([again.found, again.hasBegun], [undefined, true], 'nobody is told before the call has returned');
  await Promise.resolve();
  assert.deepEqual(again.found, ['192.0.2.1', '192.0.2.2']);
  assert.equal(asked.length, 3);
  pass(1);
  find('a', 'x.test');
  assert.deepEqual(asked.slice(3), ['x.test'], 'after a second it is looked up again');
  answer('x.test', new Error('not there'));
  find('a', 'x.test');
  assert.deepEqual(asked.slice(4), ['x.test'], 'a fault is not kept');
});

test('what was found for one account serves no other', (t) => {
  const { asked, find, answer } = start(t);
  find('a', 'x.test');
  answer('x.test');
  find('b', 'x.test');
  assert.deepEqual(asked, ['x.test', 'x.test']);
});

test('a name that waits when another account looks it up begins when its turn comes, or shares that lookup', (t) => {
  const { asked, find, answer } = start(t);
  find('b', 'b.test');
  find('c', 'c.test');
  find('a', 'first.test');
  const waits = find('a', 'x.test');
  answer('b.test');
  find('c', 'x.test');
  answer('c.test');
  assert.deepEqual(asked, ['b.test', 'c.test', 'first.test', 'x.test']);
  answer('first.test');
  assert.equal(waits.hasBegun, true);
  assert.equal(asked.length, 4);
  answer('x.test');
  assert.deepEqual(waits.found, ['192.0.2.1']);
});

test('whoever waits no more is not told, and a name that nobody waits for is not looked up', (t) => {
  const { asked, find, answer } = start(t);
  const [first, second] = [find('a', 'x.test'), find('a', 'x.test')];
  const waiting = [find('a', 'gone.test'), find('a', 'gone.test'), find('a', 'half.test'), find('a', 'half.test')];
  for (const one of [first, ...waiting.slice(0, 3)]) one.leave();
  answer('x.test');
  assert.deepEqual([first.found, second.found], [undefined, ['192.0.2.1']]);
  assert.deepEqual(asked, ['x.test', 'half.test']);
  answer('half.test');
  assert.deepEqual(
    waiting.map(({ found }) => found?.length),
    [undefined, undefined, undefined, 1],
  );
  const more = find('a', 'gone.test');
  assert.deepEqual(asked.slice(2), ['gone.test']);
  answer('gone.test');
  assert.equal(more.found?.length, 1);
});

test('the users of a name are told a few in each turn, and 64 of its addresses are used', async (t) => {
  const { find, answer } = start(t);
  const users = Array.from({ length: 40 }, () => find('a', 'x.test'));
  answer(
    'x.test',
    Array.from({ length: 100 }, (_, at) => `192.0.2.${at}`),
  );
  const told = () => users.filter(({ found }) => found?.length === 64).length;
  assert.equal(told(), 16);
  await new Promise(setImmediate);
  assert.equal(told(), 32);
  await new Promise(setImmediate);
  assert.equal(told(), 40);
});
