import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';

import { freePort } from '../../support/free-port.ts';
import { makePair } from '../../support/certificate-pair.ts';
import { rounds } from '../../support/long-form.ts';
import { changes, sources } from './support/changes.ts';
import type { ChangeParts, Touched } from './support/changes.ts';
import { filledHost, fillEdges } from './support/fill.ts';
import { createAccount } from './support/host-command.ts';
import { Load } from './support/load.ts';
import {
  expectedHttps,
  expectedTcp,
  refusedConnection,
  requestHttps,
  requestTcp,
  startModel,
  withoutUndefined,
} from './support/model.ts';
import type { Model } from './support/model.ts';
import { Program } from './support/program.ts';
import { Random } from './support/random.ts';
import { newSqlite } from '../../support/scratch.ts';
import { startUpstream } from './support/upstream.ts';
import { until } from './support/until.ts';
import type { Upstream } from './support/upstream.ts';

const changeCount = rounds(20, 1000);
const edgeCount = 10_000;
const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);

/** Sends requests from every source to everything that a change affects, and compares the results with the model. */
async function check(model: Model, touched: readonly Touched[], what: string): Promise<void> {
  for (const each of touched) {
    if ('goneHost' in each) {
      const { goneHost, certificate } = each;
      // A page can say that there is no such host only under a certificate for it.
      const expected = certificate === undefined ? refusedConnection : { status: 404, errorCode: 3200, certificate };
      assert.deepEqual(await requestHttps(model, goneHost, '/', sources[0]), expected, what);
    } else if ('gonePort' in each) {
      assert.equal(await requestTcp(each.gonePort, sources[0]), refusedConnection, what);
    } else {
      for (const from of sources) {
        if ('tcp' in each) {
          assert.equal(
            await requestTcp(each.tcp.port, from),
            expectedTcp(model, each.tcp, from),
            `${what} from ${from}`,
          );
        } else {
          const expected = withoutUndefined(expectedHttps(model, each.site, each.path, from));
          const actual = await requestHttps(model, each.site.host, each.path, from);
          assert.deepEqual(actual, expected, `${what}: ${each.site.host}${each.path} from ${from}`);
        }
      }
    }
  }
}

async function openTcpEdge(program: Program, upstream: Upstream): Promise<number> {
  const { id } = await program.must('POST', '/backends/static', { address: `127.0.0.1:${upstream.port}` });
  const port = await freePort();
  await program.must('POST', '/edges/tcp', { hostports: [`localhost:${port}`], backend: { backend_id: id } });
  return port;
}

function certificateFor(host: string): ReturnType<ChangeParts['certificateFor']> {
  const pair = makePair(host, '-subj', `/CN=${host}`, '-addext', `subjectAltName=DNS:${host}`, '-days', '5');
  return { ...pair, fingerprint: new X509Certificate(pair.certificate_pem).fingerprint256 };
}

test(`${changeCount} random changes among ${edgeCount} edges under load: the next request sees each, and nobody else notices`, async (t) => {
  t.diagnostic(`TEST_SEED=${seed}`);
  await using calm = await startUpstream('calm');
  await using first = await startUpstream('first');
  await using second = await startUpstream('second');
  const databaseUrl = newSqlite();
  await fillEdges(databaseUrl, edgeCount, calm.port);
  const token = await createAccount(databaseUrl, 'changing');
  await using program = await Program.start(databaseUrl, { 'access-log': '0' });
  const model = await startModel(program, token, [first, second]);
  const hosts = Array.from({ length: 20 }, (_, at) => filledHost(at * (edgeCount / 20)));
  const load = new Load({ httpsPort: program.httpsPort, hosts, tcpPort: await openTcpEdge(program, calm) });
  // After a failure too: it would go on for ever.
  t.after(() => load.stop());

  const random = new Random(seed);
  const parts = { program, token, model, random, newPort: freePort, certificateFor };
  const [createSite] = changes;
  const durationsMs: number[] = [];
  for (let done = 0; done < changeCount;) {
    const change = (done < 3 ? createSite : undefined) ?? random.pick(changes);
    const startMs = performance.now();
    const touched = await change(parts);
    if (touched === undefined) continue;
    durationsMs.push(performance.now() - startMs);
    await check(model, touched, `change ${(done += 1)} of seed ${seed}`);
  }
  await until(() => load.requests > changeCount / 4, 'requests of the load');
  await load.stop();

  assert.deepEqual(load.failures.slice(0, 5), []);
  assert.doesNotMatch(program.output, /"level":50/, 'the program logged an error');
  const median = durationsMs.toSorted((a, b) => a - b)[durationsMs.length >> 1] ?? 0;
  t.diagnostic(`a change took ${median.toFixed(1)} ms (median) beside ${load.requests} other requests`);
});
