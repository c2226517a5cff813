import assert from 'node:assert/strict';
import { after, before, beforeEach, suite, test } from 'node:test';

import fc from 'fast-check';

import { rounds } from '../../support/long-form.ts';
import { Site } from './support/site.ts';

let site: Site;
before(async () => {
  // Workers tell what they have counted some time later.
  site = await Site.start({ drainSeconds: '0', workers: 'off' });
});
after(() => site[Symbol.asyncDispose]());

/** Removes all restrictions and modules. */
beforeEach(async () => {
  for (const { id } of (await site.gatehouse.get('/ip_restrictions')).body.ip_restrictions) {
    await site.gatehouse.delete(`/ip_restrictions/${id}`);
  }
  await site.gatehouse.delete(`${site.routePath}/ip_restriction`);
  await site.gatehouse.delete(`/edges/tcp/${site.tcpEdgeId}/ip_restriction`);
});

/** Reads `GET /ip_restrictions/{id}/warnings` as counts by source. */
async function warningsOf(restrictionId: string): Promise<Readonly<Record<string, number>>> {
  const { body } = await site.gatehouse.get(`/ip_restrictions/${restrictionId}/warnings`);
  return Object.fromEntries(
    body.warnings.map(({ source, count }: { source: string; count: number }) => [source, count]),
  );
}

suite('a restriction of endpoints that is not enforced', () => {
  test('lets HTTPS and TCP traffic through, and counts it by source, in metrics and in one log line a minute', async () => {
    const { id } = await site.restrict(false, await site.policy('127.0.0.1/32'));
    for (const from of ['127.0.0.1', '127.0.0.2', '127.0.0.2', '::1']) {
      assert.equal((await site.askHttps({ from })).status, 200);
      assert.equal((await site.askTcp({ from })).status, 200);
    }
    assert.deepEqual(await warningsOf(id), { '127.0.0.2': 4, '::1': 2 });
    assert.match(await site.metrics(), new RegExp(`^gatehouse_warnings_total\\{restriction="${id}"\\} 6$`, 'm'));
    const lines = site
      .logged('let through with a warning: this restriction would refuse the source if it were enforced')
      .filter(({ restriction }) => restriction === id);
    assert.equal(lines.length, 2);
    assert.deepEqual(new Set(lines.map(({ source }) => source)), new Set(['127.0.0.2', '::1']));
  });

  test('refuses once it is enforced: 403 with code 3205, a reset, and nothing reaches the upstream', async () => {
    const { id } = await site.restrict(false, await site.policy('127.0.0.1/32'));
    await site.gatehouse.patch(`/ip_restrictions/${id}`, { enforced: true });
    const { requests } = site.upstream;
    const refused = await site.askHttps({ from: '127.0.0.2' });
    assert.deepEqual([refused.status, refused.errorCode], [403, 3205]);
    assert.match(refused.text, /127\.0\.0\.2/);
    await assert.rejects(site.askTcp({ from: '127.0.0.2' }), { code: 'ECONNRESET' });
    assert.equal(site.upstream.requests, requests);
    assert.equal((await site.askHttps({ from: '127.0.0.1' })).status, 200);
    assert.equal((await site.askTcp({ from: '127.0.0.1' })).status, 200);
    assert.deepEqual(await warningsOf(id), {});
  });

  test('does not warn of what does not get through anyway', async () => {
    const [nobody, one] = [await site.policy('10.0.0.0/8'), await site.policy('127.0.0.1/32')];
    const { id: trial } = await site.restrict(false, nobody);
    await site.restrict(true, one);
    await assert.rejects(site.askTcp({ from: '127.0.0.2' }), { code: 'ECONNRESET' });
    assert.equal((await site.askHttps({ from: '127.0.0.2' })).status, 403);
    assert.equal((await site.askHttps({ from: '127.0.0.1' })).status, 200);
    assert.deepEqual(await warningsOf(trial), { '127.0.0.1': 1 });
  });

  test('of another type has no effect on traffic', async () => {
    const policy = await site.policy('10.0.0.0/8');
    const { id } = await site.gatehouse.create('/ip_restrictions', { type: 'agent', ip_policy_ids: [policy] });
    assert.equal((await site.askHttps()).status, 200);
    assert.deepEqual(await warningsOf(id), {});
  });
});

const sources = ['127.0.0.1', '127.0.0.2', '127.0.0.3', '127.1.0.1', '::1'] as const;
const cidrs = [
  '127.0.0.0/8',
  '127.0.0.0/16',
  '127.0.0.0/31',
  '127.0.0.2/31',
  '127.0.0.2/32',
  '127.1.0.0/16',
  '0.0.0.0/0',
  '::1/128',
  '::/0',
  '::ffff:0:0/96',
  '10.0.0.0/8',
] as const;
const policies = fc.array(
  fc.uniqueArray(fc.record({ cidr: fc.constantFrom(...cidrs), deny: fc.boolean() }), {
    maxLength: 4,
    selector: ({ cidr }) => cidr,
  }),
  { minLength: 2, maxLength: 3 },
);
const users = fc.array(fc.nat(), { minLength: 1, maxLength: 2 });
const installation = fc.record({
  policies,
  restrictions: fc.array(fc.record({ enforced: fc.boolean(), users }), { maxLength: 3 }),
  routeModule: fc.option(fc.record({ enabled: fc.boolean(), users }), { nil: undefined }),
  tcpModule: fc.option(fc.record({ enabled: fc.boolean(), users }), { nil: undefined }),
});
type Installation = typeof installation extends fc.Arbitrary<infer T> ? T : never;

/** Creates the restrictions and modules of a case; returns the ids of the restrictions. */
async function install({
  policies: rules,
  restrictions,
  routeModule,
  tcpModule,
}: Installation): Promise<readonly string[]> {
  const policyIds: string[] = [];
  for (const each of rules) {
    policyIds.push(await site.policy(...each.map(({ cidr, deny }) => `${deny ? '!' : ''}${cidr}`)));
  }
  const named = (numbers: readonly number[]) => [
    ...new Set(numbers.map((at) => policyIds[at % policyIds.length] ?? '')),
  ];
  for (const [path, module] of [
    [site.routePath, routeModule],
    [`/edges/tcp/${site.tcpEdgeId}`, tcpModule],
  ] as const) {
    const settings = module && { enabled: module.enabled, ip_policy_ids: named(module.users) };
    if (settings === undefined) await site.gatehouse.delete(`${path}/ip_restriction`);
    else await site.gatehouse.put(`${path}/ip_restriction`, settings);
  }
  const ids: string[] = [];
  for (const each of restrictions) ids.push((await site.restrict(each.enforced, ...named(each.users))).id);
  return ids;
}

async function getsThrough(ask: Promise<{ readonly status: number }>): Promise<boolean> {
  try {
    return (await ask).status === 200;
  } catch {
    return false;
  }
}

test('POST /ip_check predicts the result of traffic, and its warnings, whatever the rules are', async () => {
  await fc.assert(
    fc.asyncProperty(installation, async (generated) => {
      const restrictionIds = await install(generated);
      const expected = new Map<string, Record<string, number>>(restrictionIds.map((id) => [id, {}]));
      for (const ip of sources) {
        for (const [subject, ask] of [
          [{ route_id: site.routeId }, () => site.askHttps({ from: ip })],
          [{ edge_id: site.tcpEdgeId }, () => site.askTcp({ from: ip })],
        ] as const) {
          const { body } = await site.gatehouse.post('/ip_check', { ip, ...subject });
          assert.equal(await getsThrough(ask()), body.allowed, `${ip}: ${body.explanation}`);
          for (const { id, effect } of body.checks) {
            const counts = expected.get(id);
            if (body.allowed && effect === 'warns' && counts !== undefined) counts[ip] = (counts[ip] ?? 0) + 1;
          }
        }
      }
      for (const [id, counts] of expected) {
        assert.deepEqual(await warningsOf(id), counts);
        await site.gatehouse.delete(`/ip_restrictions/${id}`);
      }
    }),
    { numRuns: rounds(8, 200) },
  );
});
