import { DatabaseSync } from 'node:sqlite';

import type { Benchmark } from './support/benchmark.ts';
import { keyMetadata } from './support/fill.ts';
import { Gatehouse, newDatabaseFile } from './support/gatehouse.ts';
import { loadColumns, underLoad } from './support/measure.ts';
import { compare } from './support/report.ts';
import { interleave } from './support/rounds.ts';

const withoutMarks = new URL('support/without-marks.ts', import.meta.url).pathname;
const whole = 'as it is';

export const safeguards: Benchmark = {
  name: 'safeguards',
  summary:
    'POST of an API key, 32 at a time (SQLite), beside the same without what counts quotas, and without the marks of the history',
  async run({ rounds, seconds }) {
    const databaseFile = await newDatabaseFile();
    await using asItIs = await Gatehouse.start({ isFromSources: true });
    await using uncounted = await Gatehouse.start({ isFromSources: true, databaseFile });
    await using unmarked = await Gatehouse.start({ isFromSources: true, nodeArguments: ['--import', withoutMarks] });
    dropTriggers(databaseFile);
    const variants = [
      { name: whole, gatehouse: asItIs },
      { name: 'without the triggers of quotas', gatehouse: uncounted },
      { name: 'without the marks of the history', gatehouse: unmarked },
    ].map(({ name, gatehouse }) =>
      underLoad(name, gatehouse.process, {
        port: gatehouse.apiPort,
        method: 'POST',
        paths: ['/api_keys'],
        headers: { ...gatehouse.headers, 'Content-Type': 'application/json' },
        body: JSON.stringify({ description: 'a key', metadata: keyMetadata }),
        seconds,
      }),
    );
    const outcomes = await interleave(variants, { rounds });
    return {
      title: 'What quotas and the history cost',
      lines: compare(variants, outcomes, loadColumns, whole),
      verdicts: [],
    };
  },
};

/** All of them count rows; statements that are prepared already are made anew by SQLite. */
function dropTriggers(file: string): void {
  const database = new DatabaseSync(file);
  const triggers = database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE 'api_keys_%'")
    .all();
  if (triggers.length === 0) throw new Error('no trigger counts API keys');
  for (const { name } of triggers) database.exec(`DROP TRIGGER ${String(name)}`);
  database.close();
}
