import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { newToken, serveAgents } from '../../agents/support/served-agents.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { isLong } from '../../support/long-form.ts';
import { askHttps } from '../gateway/support/traffic.ts';
import { until } from '../gateway/support/until.ts';
import { startUpstream } from '../gateway/support/upstream.ts';
import { PatroniCluster } from './support/patroni-cluster.ts';

const failovers = Number(process.env['TEST_FAILOVERS'] ?? 20);
/** Before 3.1 a leader whose server alone was frozen takes the lock back, and what others have written meanwhile is lost. */
const waysOf = ({ version }: PatroniCluster) =>
  (['killPatroni', 'freezeServer', 'switchOver', 'kill', 'freeze'] as const).filter(
    (way) => way !== 'freezeServer' || version >= 3.1,
  );

/** Patroni takes 20 s to find that a leader is gone: too long for the usual form. */
if (isLong) {
  test(`${failovers} failovers of a Patroni cluster: no answered write is lost, and no request fails`, async (t) => {
    await using upstream = await startUpstream();
    await using cluster = await PatroniCluster.start();
    await using one = await Gatehouse.start(cluster.url, { role: 'api' });
    await using other = await Gatehouse.start(cluster.url, { role: 'api' });
    const served = await serveAgents(cluster.url);
    await using withAgent = served.gatehouse;
    await using gateway = await Gatehouse.start(cluster.url, { role: 'gateway', httpsListen: '127.0.0.1:0' });
    await using _ = { [Symbol.asyncDispose]: served.cleanUp };
    const session = await served.library(await newToken(one));
    await session.httpEndpoint().domain('agent.localhost').listenAndForward(`http://127.0.0.1:${upstream.port}`);
    const ports = [withAgent, gateway].map(({ httpsPort }) => httpsPort);
    const { id: backend_id } = await one.create('/backends/static', { address: `127.0.0.1:${upstream.port}` });
    const isServed = async (host: string, port: number) =>
      askHttps(port, host).then(
        ({ status }) => status === 200,
        () => false,
      );
    const areServing = async (host: string) =>
      (await Promise.all(ports.map((port) => isServed(host, port)))).every(Boolean);
    const answered: string[] = [];
    let [lastMs, longestMs, requests, failed, divergedMs] = [performance.now(), 0, 0, 0, 0];
    const over = new AbortController();
    const repeat = async (work: () => Promise<void>) => {
      while (!over.signal.aborted) {
        await work();
        await sleep(20);
      }
    };
    const createEdge = async (host: string) => {
      const edge = await one.post('/edges/https', { hostports: [`${host}:443`] });
      const route = { match_type: 'path_prefix', match: '/', backend: { backend_id } };
      if (edge.status !== 201) return undefined;
      const { status } = await one.post(`/edges/https/${edge.body.id}/routes`, route);
      return status === 201 ? String(edge.body.id) : undefined;
    };
    assert.ok(await createEdge('steady.test'));
    await until(() => areServing('steady.test'), 'traffic flows');
    const writers = [one, other].map((api) =>
      repeat(async () => {
        const { status, body } = await api.post('/ip_policies', {});
        if (status !== 201) return assert.equal(status, 503);
        answered.push(body.id);
        longestMs = Math.max(longestMs, performance.now() - lastMs);
        lastMs = performance.now();
      }),
    );
    const visited = [
      ...ports.map((port) => ['steady.test', port] as const),
      ['agent.localhost', ports[0] ?? 0] as const,
    ];
    const visitors = visited.map(([host, port]) =>
      repeat(async () => {
        requests += 1;
        if (!(await isServed(host, port))) failed += 1;
      }),
    );
    try {
      const ways = waysOf(cluster);
      for (let round = 0; round < failovers; round++) {
        const way = ways[round % ways.length] ?? 'kill';
        const leader = await cluster.leader();
        const { id: keyId, token } = await one.create('/api_keys', {});
        const closed = `closed-${round}.test`;
        const edgeId = await createEdge(closed);
        await until(() => areServing(closed), 'an edge is open that will be closed');
        const before = answered.length;
        const recover = await cluster[way]();
        await until(async () => ![leader, ''].includes(await cluster.leader()), `there is another leader after ${way}`);
        await until(() => answered.length > before + 2, `writes are taken again after ${way}`);
        // The old leader is not back, or lives on where nobody has stopped it.
        await until(async () => (await one.delete(`/api_keys/${keyId}`)).status !== 503, 'a key is deleted');
        await until(async () => (await one.delete(`/edges/https/${edgeId}`)).status !== 503, 'an edge is closed');
        await until(
          async () => (await other.get('/ip_policies', { token })).status === 401,
          'the key is dead everywhere',
        );
        for (const port of ports)
          await until(async () => !(await isServed(closed, port)), 'the edge is closed everywhere');
        recover?.();
        let tries = 0;
        await until(
          async () => (await createEdge(`${way}-${round}-${tries++}.test`)) !== undefined,
          'an edge is answered',
        );
        const answeredMs = performance.now();
        await until(() => areServing(`${way}-${round}-${tries - 1}.test`), 'the edge is live at both gateways');
        divergedMs = Math.max(divergedMs, performance.now() - answeredMs);
        await cluster.whole();
      }
    } finally {
      // Also after a fault, before what they call is closed.
      over.abort();
      await Promise.all([...writers, ...visitors]);
    }
    const rows = await one.app.context.store.queries.all('SELECT id FROM ip_policies');
    const stored = new Set(rows.map(([id]) => id));
    const lost = answered.filter((id) => !stored.has(id));
    t.diagnostic(`${failovers} failovers; writes answered ${answered.length}, lost ${lost.length}`);
    t.diagnostic(`requests ${requests}, failed ${failed}`);
    t.diagnostic(
      `longest time without writes ${(longestMs / 1000).toFixed(1)} s, longest divergence ${divergedMs.toFixed(0)} ms`,
    );
    assert.deepEqual(lost, []);
    assert.equal(failed, 0);
  });
}
