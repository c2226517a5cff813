import assert from 'node:assert/strict';
import { test } from 'node:test';

import { onEachDatabase } from '../../support/each-database.ts';
import { rounds } from '../../support/long-form.ts';
import { Running } from './support/running.ts';
import { checkSoundness } from './support/soundness.ts';
import { randomBetween, until } from './support/waiting.ts';
import { Writer } from './support/writers.ts';

const kills = rounds(2, 50);
const writerCount = 8;
const firstPort = 20_000;

onEachDatabase(`the API process is killed ${kills} times under write load`, (newDatabase) => {
  test('every acknowledged write is there afterwards, and every other is there whole or not at all', async () => {
    const database = await newDatabase();
    const writers = Array.from({ length: writerCount }, (_, at) => new Writer(firstPort + at * 1_000));
    for (let kill = 0; kill < kills; kill++) {
      await using api = await Running.start(database);
      const call: typeof api.call = (...request) => api.call(...request);
      // Checks the state that the last kill left behind.
      await Promise.all(writers.map((writer) => writer.verify(call)));
      const load = Promise.all(writers.map((writer) => writer.writeUntilFailure(call)));
      const goal = acknowledged(writers) + randomBetween(5, 60);
      await until('enough was written', () => acknowledged(writers) >= goal, { everyMs: 1 });
      await api.kill();
      await load;
      await checkSoundness(database);
    }
    await using api = await Running.start(database);
    for (const writer of writers) await writer.verify((...request) => api.call(...request));
    const version = await checkSoundness(database);
    assert.ok(version >= acknowledged(writers), 'fewer versions than acknowledged writes');
  });
});

function acknowledged(writers: readonly Writer[]): number {
  return writers.reduce((sum, writer) => sum + writer.acknowledged, 0);
}
