import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Served } from '../agents/support/served.ts';
import { newSqlite } from '../../support/scratch.ts';
import { descriptorSlack, soak, soakSettings } from './support/soak.ts';

/** Short form of `npm run bench:soak`, which checks memory and latency too. */
test('after mixed load, changes, agents and killed workers it holds no more descriptors than before, and no client saw a failure', async (t) => {
  await using served = await Served.start(newSqlite(), { ...soakSettings, 'idle-seconds': '5' });
  const atLeast = { requests: 100, changes: 5, agents: 5, restarts: 1 };
  const report = await soak(served, { seconds: 5, atLeast, sampleSeconds: 1, restartSeconds: 2 });
  const { before, after, samples, failures } = report;
  const most = Math.max(...samples.map(({ descriptors }) => descriptors));
  const { requests, changes, agents, restarts, brokenOff } = report;
  t.diagnostic(
    `${requests} requests, ${changes} changes, ${agents} agents, ${restarts} restarts with ${brokenOff} requests broken off; descriptors ${before.descriptors}, ${most}, ${after.descriptors}`,
  );
  assert.deepEqual(failures.slice(0, 5), []);
  // At most those that every client had under way.
  assert.ok(brokenOff <= restarts * 16, `${brokenOff} requests broke off with ${restarts} workers`);
  assert.ok(after.descriptors <= before.descriptors + descriptorSlack, `${before.descriptors} ${after.descriptors}`);
  assert.ok(after.megabytes < 700, `${after.megabytes} MB`);
  const errors = served.program.output.split('\n').filter((line) => line.includes('"level":50'));
  assert.deepEqual(
    // Of a worker that was there, or of one that was still starting.
    errors.filter((line) => !line.includes('was ended by SIGKILL')),
    [],
  );
  assert.equal(errors.length, restarts);
});
