import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { onDatabasesInTurn } from '../../support/each-database.ts';
import { rounds } from '../../support/long-form.ts';
import { Running } from './support/running.ts';
import { randomBetween, until } from './support/waiting.ts';

const keys = rounds(8, 1_000);
/** Limit for every other process, from the response to the deletion. */
const obeyedWithinMs = 250;

onDatabasesInTurn('a key is deleted through one process and used through another', (newDatabase) => {
  test(`no call that begins more than ${obeyedWithinMs} ms after the answer is accepted, ${keys} times`, async (t) => {
    const database = await newDatabase();
    await using deleting = await Running.start(database);
    await using using = await Running.start(database);
    const delaysMs: number[] = [];
    const late: string[] = [];
    for (let round = 0; round < keys; round++) {
      const { id, token } = await deleting.create('/api_keys');
      const use = async () => (await using.call('GET', '/ip_policies', undefined, { token })).status;
      await until('the key is known to the other', async () => (await use()) === 200);
      await sleep(randomBetween(0, 30));

      const deleted = deleting.call('DELETE', `/api_keys/${id}`).then(({ status }) => {
        assert.equal(status, 204);
        return performance.now();
      });
      let answeredAtMs = Infinity;
      void deleted.then((atMs) => (answeredAtMs = atMs));
      // Only the start of a call counts, so that a slow machine does not fail the test.
      for (let refused = false; !refused;) {
        await sleep(randomBetween(0, 5));
        const begunAtMs = performance.now();
        const isSurelyLate = begunAtMs > answeredAtMs + obeyedWithinMs;
        refused = (await use()) === 401;
        if (!refused && isSurelyLate) late.push(`${id}: ${Math.round(begunAtMs - answeredAtMs)} ms`);
        if (refused) delaysMs.push(begunAtMs - (await deleted));
        assert.ok(late.length < 20, `still accepted: ${late.join(', ')}`);
      }
      // A refused key stays refused.
      assert.equal(await use(), 401);
    }
    const median = delaysMs.toSorted((a, b) => a - b)[Math.floor(delaysMs.length / 2)] ?? 0;
    t.diagnostic(
      `median until the other process refuses: ${median.toFixed(1)} ms; longest: ${Math.max(...delaysMs).toFixed(1)} ms`,
    );
    assert.deepEqual(late, []);
  });
});
