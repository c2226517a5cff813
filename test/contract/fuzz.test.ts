import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onDatabasesInTurn } from '../support/each-database.ts';
import { isLong, rounds } from '../support/long-form.ts';
import { runEpisode } from './support/fuzz/episode.ts';

/**
 * Random calls of every operation. `TEST_SEED=n npm test -- test/contract/fuzz.test.ts` repeats the episode of a seed;
 * `TEST_LONG=1` runs a million calls in all.
 */
const callsPerEpisode = rounds(120, 1000);
const episodes = rounds(1, 500);
const only = process.env['TEST_SEED'];
const first = isLong ? Date.now() % 1_000_000_000 : 1;
const seeds = only === undefined ? Array.from({ length: episodes }, (_, at) => first + at) : [Number(only)];

onDatabasesInTurn('random calls, derived from openapi.json', (newDatabase) => {
  test('are answered or refused in good form, and a refused one changes nothing', async (t) => {
    t.diagnostic(`seeds ${seeds[0]} to ${seeds.at(-1)}, ${callsPerEpisode} calls each`);
    const total = new Map<number, number>();
    for (const seed of seeds) {
      const { statuses } = await runEpisode(await newDatabase(), seed, callsPerEpisode).catch((error: unknown) => {
        throw new Error(`TEST_SEED=${seed} repeats this`, { cause: error });
      });
      for (const [status, count] of statuses) total.set(status, (total.get(status) ?? 0) + count);
    }
    t.diagnostic(JSON.stringify(Object.fromEntries(total)));
    // Calls that are all refused, or all accepted, would prove little.
    const accepted = [...total].filter(([status]) => status < 300).reduce((sum, [, count]) => sum + count, 0);
    const calls = seeds.length * callsPerEpisode;
    assert.ok(accepted > calls / 10 && accepted < (calls * 9) / 10, `${accepted} of ${calls} were accepted`);
  });
});
