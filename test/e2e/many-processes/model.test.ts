import fc from 'fast-check';
import { test } from 'node:test';

import { onEachDatabase } from '../../support/each-database.ts';
import { rounds } from '../../support/long-form.ts';
import { operation } from './support/model-operations.ts';
import { Process } from './support/model-process.ts';
import { ModelRun } from './support/model-run.ts';
import { Model } from './support/model.ts';
import { checkSoundness } from './support/soundness.ts';

const runs = rounds(3, 300);
const operationsInRun = rounds(60, 150);

onEachDatabase(`random operations through two processes, ${runs} times`, (newDatabase) => {
  test('answers and the final state are those of a simple model in memory', async () => {
    const database = await newDatabase();
    await using first = await Process.start(database);
    await using second = await Process.start(database);
    const [ownKey] = (await first.call('GET', '/api_keys')).body.keys;
    let count = 0;
    const property = fc.asyncProperty(
      fc.array(operation, { minLength: 10, maxLength: operationsInRun, size: 'max' }),
      async (operations) => {
        const run = new ModelRun([first, second], new Model(ownKey.owner_id, (count += 1)));
        try {
          for (const each of operations) await run.carryOut(each);
          await run.compareAll();
        } finally {
          await run.deleteAll();
        }
      },
    );
    await fc.assert(property, { numRuns: runs, interruptAfterTimeLimit: rounds(120_000, 3_600_000) });
    await checkSoundness(database);
  });
});
