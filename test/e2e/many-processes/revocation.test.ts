import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { DashboardBrowser } from '../../support/dashboard-browser.ts';
import { onEachDatabase } from '../../support/each-database.ts';
import { rounds } from '../../support/long-form.ts';
import { Running } from './support/running.ts';
import { randomBetween, until } from './support/waiting.ts';

const times = rounds(5, 1_000);
/** Limit for every other process, from the response of the call that takes something back. */
const obeyedWithinMs = 250;

/** Something that lets callers in, at any process, until it is taken back through one. */
interface Grant {
  /** Status of a call by it at the other process. */
  readonly use: () => Promise<number>;
  /** Status of the call that takes it back. */
  readonly end: () => Promise<number>;
  readonly refusedWith: number;
}

interface Processes {
  readonly ending: Running;
  readonly using: Running;
}

async function keyOf({ ending, using }: Processes, owner: object = {}) {
  const { id, token } = await ending.create('/api_keys', owner);
  const use = async () => (await using.call('GET', '/ip_policies', undefined, { token })).status;
  return { id, token, use };
}

const grants: Readonly<Record<string, (processes: Processes) => Promise<Grant>>> = {
  'a key that is deleted': async (processes) => {
    const { id, use } = await keyOf(processes);
    const end = async () => (await processes.ending.call('DELETE', `/api_keys/${id}`)).status;
    return { use, end, refusedWith: 401 };
  },
  'the token of a key that is rotated': async (processes) => {
    const { id, use } = await keyOf(processes);
    const end = async () =>
      (await processes.ending.call('POST', `/api_keys/${id}/rotate`, { overlap_seconds: 0 })).status;
    return { use, end, refusedWith: 401 };
  },
  'the key of an owner who is deactivated': async (processes) => {
    const bot = await processes.ending.create('/bot_users', { name: `bot ${randomBetween(0, 1e9)}` });
    const { use } = await keyOf(processes, { owner_id: bot.id });
    const end = async () => (await processes.ending.call('PATCH', `/bot_users/${bot.id}`, { active: false })).status;
    return { use, end, refusedWith: 403 };
  },
  'a session of the dashboard that is signed out': async (processes) => {
    const { token } = await keyOf(processes);
    const one = await DashboardBrowser.signedIn(processes.ending, token);
    const other = Object.assign(new DashboardBrowser(processes.using), { cookie: one.cookie, secret: one.secret });
    const use = async () => (await other.get('/ip_policies')).status;
    return { use, end: async () => (await one.delete('/dashboard/session')).status, refusedWith: 401 };
  },
};

onEachDatabase('what is taken back through one process and used through another', (newDatabase) => {
  const started = new AsyncDisposableStack();
  let processes: Processes;
  before(async () => {
    const database = await newDatabase();
    const start = async () => started.use(await Running.start(database, { 'public-url': undefined }));
    const [ending, using] = await Promise.all([start(), start()]);
    processes = { ending, using };
  });
  after(() => started.disposeAsync());

  for (const [name, grant] of Object.entries(grants))
    test(`${name}: no call that begins more than ${obeyedWithinMs} ms after the answer is accepted, ${times} times`, async (t) => {
      const delaysMs: number[] = [];
      const late: string[] = [];
      for (let round = 0; round < times; round++) {
        const { use, end, refusedWith } = await grant(processes);
        await until('the other lets it in', async () => (await use()) === 200);
        await sleep(randomBetween(0, 30));

        const ended = end().then((status) => {
          assert.ok(status >= 200 && status < 300, `${status}`);
          return performance.now();
        });
        let answeredAtMs = Infinity;
        void ended.then((atMs) => (answeredAtMs = atMs));
        // Only the start of a call counts, so that a slow machine does not fail the test.
        for (let refused = false; !refused;) {
          await sleep(randomBetween(0, 5));
          const begunAtMs = performance.now();
          const isSurelyLate = begunAtMs > answeredAtMs + obeyedWithinMs;
          refused = (await use()) === refusedWith;
          if (!refused && isSurelyLate) late.push(`${round}: ${Math.round(begunAtMs - answeredAtMs)} ms`);
          if (refused) delaysMs.push(begunAtMs - (await ended));
          assert.ok(late.length < 20, `still accepted: ${late.join(', ')}`);
        }
        // What was refused once stays so.
        assert.equal(await use(), refusedWith);
      }
      const median = delaysMs.toSorted((a, b) => a - b)[Math.floor(delaysMs.length / 2)] ?? 0;
      t.diagnostic(
        `median until the other process refuses: ${median.toFixed(1)} ms; longest: ${Math.max(...delaysMs).toFixed(1)} ms`,
      );
      assert.deepEqual(late, []);
    });
});
