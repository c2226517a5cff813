import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { freePort } from '../../support/free-port.ts';
import { rounds } from '../../support/long-form.ts';
import { connectPostgres } from '../../support/postgres-client.ts';
import { usePostgres } from '../../support/use-postgres.ts';
import { askHttps } from '../gateway/support/traffic.ts';
import { Running } from './support/running.ts';
import { checkSoundness } from './support/soundness.ts';
import { until } from './support/waiting.ts';
import { Writer } from './support/writers.ts';

/** Connections that an administrator, or a pooler, ends: all, those that do something, and those that hear of changes. */
const victims = {
  all: 'true',
  busy: "state <> 'idle'",
  listening: "query LIKE 'LISTEN %'",
} as const;

describe('PostgreSQL ends connections', () => {
  const started = new AsyncDisposableStack();
  let database: string;
  let firstPort = 10_000;
  let processes: readonly { readonly api: Running; readonly httpsPort: number }[];
  before(async () => {
    database = await usePostgres(started);
    const start = async () => {
      const httpsPort = await freePort();
      const flags = { role: undefined, workers: '2', 'https-listen': `127.0.0.1:${httpsPort}` };
      return { api: started.use(await Running.start(database, flags)), httpsPort };
    };
    processes = [await start(), await start()];
  });
  after(() => started.disposeAsync());

  for (const [whose, condition] of Object.entries(victims))
    test(`${whose}, again and again: nothing acknowledged is lost or half done, and every process hears of changes`, async () => {
      const [near = assert.fail(), far = assert.fail()] = processes;
      await using killer = await connectPostgres(database);
      const kill = () =>
        killer.query(
          `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
           WHERE datname = current_database() AND pid <> pg_backend_pid() AND ${condition}`,
        );
      const backend = await near.api.create('/backends/http_response', { status_code: 200, body: 'open' });
      const route = { match_type: 'path_prefix', match: '/', backend: { backend_id: backend.id } };
      const statusAt = async ({ httpsPort }: { readonly httpsPort: number }, host: string) =>
        (await askHttps(httpsPort, host)).status;
      /** Repeats a call until it is not 503. */
      const patient =
        ({ api }: { readonly api: Running }): Running['call'] =>
        (method, path, ...more) =>
          until(`${method} ${path} is answered`, async () => {
            const answer = await api.call(method, path, ...more);
            return answer.status !== 503 && answer;
          });
      const written = patient(near);

      for (let round = 0; round < rounds(1, 20); round++) {
        const host = `${whose}-${round}.test`;
        const edge = (await written('POST', '/edges/https', { hostports: [`${host}:443`] })).body;
        const made = await written('POST', `/edges/https/${edge.id}/routes`, route);
        assert.equal(made.status, 201, made.text);
        const key = (await written('POST', '/api_keys', {})).body;
        const use = () => far.api.call('GET', '/ip_policies', undefined, { token: key.token });
        await until('the key works at the other process', async () => (await use()).status === 200);
        for (const each of processes) await until('the edge is open', async () => (await statusAt(each, host)) === 200);

        const over = new AbortController();
        const writers = processes.flatMap((each) =>
          [0, 1].map(() => ({ writer: new Writer((firstPort += 200)), each })),
        );
        const load = writers.map(async ({ writer, each }) => {
          // Whether one without an answer was carried out is asked before the next write.
          while (!over.signal.aborted)
            if (!(await writer.writeOnce((...request) => each.api.call(...request))))
              await writer.verify(patient(each));
          await writer.verify(patient(each));
        });
        const reads = processes.map(async ({ api }) => {
          while (!over.signal.aborted) {
            const { status, text } = await api.call('GET', '/ip_policies');
            assert.ok([200, 503].includes(status), text);
            await sleep(5);
          }
        });
        const acknowledged = () => writers.reduce((sum, { writer }) => sum + writer.acknowledged, 0);
        try {
          for (let times = 0; times < 5; times++) {
            const count = acknowledged();
            await until('writes go on', () => acknowledged() >= count + 5);
            await kill();
          }
          await written('DELETE', `/api_keys/${key.id}`);
          await written('DELETE', `/edges/https/${edge.id}`);
          await kill();
          await until('the key is dead at the other process', async () => (await use()).status === 401);
          for (const each of processes)
            await until('the edge is closed', async () => (await statusAt(each, host).catch(() => 404)) !== 200);
        } finally {
          over.abort();
          await Promise.all([...load, ...reads]);
        }
        await checkSoundness(database);
      }
    });
});
