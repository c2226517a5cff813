import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount } from './support/host-command.ts';
import { Program } from './support/program.ts';
import { newSqlite } from './support/scratch.ts';
import { soak } from './support/soak.ts';

/** Short form of `node bench/soak.ts`, which checks memory too. */
test('after mixed load with changes the server holds no more descriptors than before, and no client saw a failure', async (t) => {
  const databaseUrl = newSqlite();
  await using program = await Program.start(databaseUrl, { 'access-log': '0', 'idle-seconds': '5' });
  const token = await createAccount(databaseUrl, 'changing');
  const report = await soak(program, { token, seconds: 10, sampleSeconds: 1 });
  const { before, after, requests, changes, failures, samples } = report;
  const most = Math.max(...samples.map(({ descriptors }) => descriptors));
  t.diagnostic(
    `${requests} requests, ${changes} changes; descriptors ${before.descriptors}, ${most}, ${after.descriptors}`,
  );
  assert.deepEqual(failures.slice(0, 5), []);
  assert.ok(requests > 200 && changes > 20, `${requests} requests, ${changes} changes`);
  assert.ok(after.descriptors <= before.descriptors + 5, JSON.stringify(report, undefined, 1));
  assert.ok(after.megabytes < 700, `${after.megabytes} MB`);
  assert.doesNotMatch(program.output, /"level":50/, 'the program logged an error');
});
