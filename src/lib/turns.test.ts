import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nextTurn } from './next-turn.ts';
import { Turns } from './turns.ts';

test('steps run one after another, in the order in which they came', async () => {
  const turns = new Turns();
  const log: string[] = [];
  const step = (name: string, pauses: number) => async () => {
    log.push(`${name} begins`);
    for (let pause = 0; pause < pauses; pause++) await nextTurn();
    log.push(`${name} ends`);
    return name;
  };
  const results = await Promise.all([turns.run(step('a', 3)), turns.run(step('b', 0)), turns.run(step('c', 1))]);
  assert.deepEqual(results, ['a', 'b', 'c']);
  assert.deepEqual(log, ['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('a step that fails tells its own caller, and the next one runs', async () => {
  const turns = new Turns();
  const failed = turns.run(() => Promise.reject(new Error('no')));
  const next = turns.run(async () => 'done');
  await assert.rejects(failed, /no/);
  assert.equal(await next, 'done');
});

test('all has settled when every step has ended, also one that failed', async () => {
  const turns = new Turns();
  let isOver = false;
  const failed = turns.run(async () => {
    await nextTurn();
    isOver = true;
    throw new Error('no');
  });
  failed.catch(() => {});
  await turns.settled();
  assert.ok(isOver);
});
