import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { TestContext } from 'node:test';

import type { SnapshotEntry } from '../../src/snapshot/contract.ts';
import { startAgents, tunnelBackend } from './support/agents.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startRawUpstream } from './support/https-upstream.ts';
import { oddTraffic } from './support/odd-traffic.ts';
import type { Answer, Visit } from './support/odd-traffic.ts';

/** Odd but legal traffic, carried straight to an upstream and through an agent: both must be the same, byte for byte. */

const edge = edgeEntry('e', ['app.test'], [prefixRoute('/', toBackend('b'))]);

async function carry(t: TestContext, way: 'straight' | 'tunnel', answer: Answer, visit: Visit) {
  await using upstream = await startRawUpstream(answer);
  const agents = await startAgents(t);
  let backend: SnapshotEntry = backendEntry('b', upstream.port);
  if (way === 'tunnel') backend = tunnelBackend('b', [await agents.start(upstream.port)]);
  await using gateway = await startGateway([backend, edge], { dialer: agents.dialer });
  const seen = await visit(gateway);
  assert.equal(agents.dialled.length > 0, way === 'tunnel', 'the traffic took its way');
  return { seen, received: upstream.received };
}

/** Runs both ways, compares them, and returns what was seen. */
async function carryBothWays(t: TestContext, answer: Answer, visit: Visit) {
  const straight = await carry(t, 'straight', answer, visit);
  const tunnel = await carry(t, 'tunnel', answer, visit);
  const [seenStraight, seen] = [straight, tunnel].map((each) => withoutDate(JSON.stringify(each.seen)));
  assert.equal(seen, seenStraight);
  assert.equal(tunnel.received, straight.received);
  return { seen: seen ?? '', received: tunnel.received };
}

function withoutDate(json: string): string {
  return json.replaceAll(/Date: [^\\]*\\r\\n/g, '');
}

suite('a tunnel carries what a straight connection does', async () => {
  for (const { name, run } of oddTraffic) {
    test(name, (t) => run((answer, visit) => carryBothWays(t, answer, visit)));
  }
});
