import assert from 'node:assert/strict';
import { test } from 'node:test';

import { nextTurn } from '../../lib/next-turn.ts';
import { SentStatements } from './sent-statements.ts';

test('few statements are on their way at once, however many a transaction has', async () => {
  const sent = new SentStatements(true);
  const answers: (() => void)[] = [];
  const sending = (async () => {
    for (let count = 0; count < 200; count++) await sent.send(new Promise<void>((resolve) => answers.push(resolve)));
  })();
  let most = 0;
  for (let answered = 0; answered < 200; answered++) {
    await nextTurn();
    most = Math.max(most, answers.length - answered);
    answers[answered]?.();
  }
  await sending;
  await sent.arrived();
  assert.equal(answers.length, 200);
  assert.equal(most, 32);
});

test('the fault of a statement that was waited for is thrown at the end', async () => {
  const sent = new SentStatements(true);
  for (let count = 0; count < 64; count++) {
    await sent.send(count === 31 ? Promise.reject(new Error('lost')) : Promise.resolve());
  }
  await assert.rejects(sent.arrived(), /lost/);
});
