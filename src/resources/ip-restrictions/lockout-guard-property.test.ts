import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as fc from 'fast-check';

import type { Gatehouse } from '../../../test/support/gatehouse.ts';
import { from, runOnHost } from '../../../test/support/people.ts';
import { onAnyGatehouse } from '../../../test/support/shared-gatehouse.ts';
import { ipRestrictions } from './table.ts';

/** Few and overlapping, so that random changes matter to random callers. */
const addresses = ['10.0.0.1', '10.0.1.1', '192.0.2.1', '2001:db8::1', '::ffff:10.0.0.1', '127.0.0.1'];
const cidrs = (
  '0.0.0.0/0 10.0.0.0/8 10.0.0.0/24 10.0.0.1/32 10.0.1.0/24 192.0.2.0/24 127.0.0.1/32 ' +
  '::/0 ::fffe:0:0/95 2001:db8::/32 2001:db8::1/128'
).split(' ');
const policyCount = 3;

const cidr = fc.constantFrom(...cidrs);
const rules = fc
  .uniqueArray(cidr, { maxLength: 5 })
  .chain((list) => fc.tuple(...list.map((each) => fc.constantFrom(each, each, each, `!${each}`))));
const policyAt = fc.nat({ max: policyCount - 1 });
const policyAts = fc.uniqueArray(policyAt, { minLength: 1 });
const index = fc.nat({ max: 9 });
const type = fc.constantFrom('api', 'api', 'api', 'endpoints');
const restriction = fc.record({ type, enforced: fc.boolean(), policies: policyAts });

const change = fc.oneof(
  fc.record({ kind: fc.constant('add rule'), policy: policyAt, cidr, action: fc.constantFrom('allow', 'deny') }),
  fc.record({ kind: fc.constant('delete rule'), at: index }),
  fc.record({ kind: fc.constant('move rule'), at: index, cidr }),
  fc.record({ kind: fc.constant('replace rules'), policy: policyAt, rules }),
  fc.record({ kind: fc.constant('add restriction'), restriction }),
  fc.record({ kind: fc.constant('update restriction'), at: index, enforced: fc.boolean(), policies: policyAts }),
  fc.record({ kind: fc.constant('delete restriction'), at: index }),
);
type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never;
const step = fc.record({ caller: fc.constantFrom(...addresses), change });

const world = fc.record({
  rules: fc.array(rules, { minLength: policyCount, maxLength: policyCount }),
  restrictions: fc.array(restriction, { maxLength: 3 }),
});

type Request = readonly [method: string, path: string, body: unknown];

onAnyGatehouse(
  'the lock-out guard',
  (g) => {
    test('refuses a change exactly when it would make the next call fail', async () => {
      const policies = await Promise.all(
        Array.from({ length: policyCount }, async (): Promise<string> => (await g().create('/ip_policies')).id),
      );
      const seen = { guarded: 0, passed: 0 };
      const property = fc.asyncProperty(world, fc.array(step, { minLength: 3, maxLength: 6 }), async (start, steps) => {
        await reset(g(), policies, start);
        for (const { caller, change: each } of steps) {
          // Who is out already can change nothing, and has nothing to lose.
          if ((await g().get('/ip_policies?limit=1', from(caller))).status === 403) continue;
          const request = await toRequest(g(), policies, each);
          if (request !== undefined) await check(g(), request, caller, seen);
        }
      });
      // A few runs may meet no guarded change by chance; so many times in a row they do not.
      for (let batch = 0; batch < 10 && (batch === 0 || seen.guarded === 0); batch++) {
        await fc.assert(property, { numRuns: 15 });
      }
      assert.ok(seen.guarded > 0 && seen.passed > 0, JSON.stringify(seen));
    });
  },
  { trustedProxies: '127.0.0.1' },
);

async function check(
  gatehouse: Gatehouse,
  request: Request,
  caller: string,
  seen: { guarded: number; passed: number },
): Promise<void> {
  const { version } = gatehouse.app.context.store;
  const answer = await gatehouse.call(...request, from(caller));
  const next = async () => (await gatehouse.get('/ip_policies?limit=1', from(caller))).status;
  if (answer.body?.error_code !== 'ERR_GATEHOUSE_20005') {
    // A rule that exists already, for example.
    assert.ok(answer.status < 300 || answer.status === 409, answer.text);
    assert.equal(await next(), 200, `${JSON.stringify(request)} has locked ${caller} out`);
    seen.passed += 1;
    return;
  }
  assert.equal(gatehouse.app.context.store.version, version, 'a guarded change has written something');
  assert.equal(await next(), 200);
  const meant = await gatehouse.call(...request, from(caller, { headers: { 'gatehouse-allow-lockout': 'true' } }));
  assert.ok(meant.status < 300, meant.text);
  assert.equal(await next(), 403, `${JSON.stringify(request)} was refused to ${caller} without need`);
  seen.guarded += 1;
  await runOnHost(gatehouse, 'restrictions disable', { id: 'all' });
}

async function toRequest(
  gatehouse: Gatehouse,
  policies: readonly string[],
  each: Change,
): Promise<Request | undefined> {
  const { queries } = gatehouse.app.context.store;
  const pick = async (table: string, at: number) => {
    const rows = await queries.all(`SELECT id FROM ${table} ORDER BY id`);
    return rows.length === 0 ? undefined : String(rows[at % rows.length]?.[0]);
  };
  const idOf = (at: number) => policies[at] ?? '';
  switch (each.kind) {
    case 'add rule':
      return ['POST', '/ip_policy_rules', { ip_policy_id: idOf(each.policy), cidr: each.cidr, action: each.action }];
    case 'replace rules':
      return ['PUT', `/ip_policies/${idOf(each.policy)}/rules`, each.rules];
    case 'add restriction': {
      const { policies: named, ...rest } = each.restriction;
      return ['POST', '/ip_restrictions', { ...rest, ip_policy_ids: named.map(idOf) }];
    }
    case 'update restriction': {
      const id = await pick('ip_restrictions', each.at);
      const body = { enforced: each.enforced, ip_policy_ids: each.policies.map(idOf) };
      return id === undefined ? undefined : ['PATCH', `/ip_restrictions/${id}`, body];
    }
    case 'delete restriction': {
      const id = await pick('ip_restrictions', each.at);
      return id === undefined ? undefined : ['DELETE', `/ip_restrictions/${id}`, undefined];
    }
    default: {
      const id = await pick('ip_policy_rules', each.at);
      if (id === undefined) return undefined;
      const path = `/ip_policy_rules/${id}`;
      return each.kind === 'delete rule' ? ['DELETE', path, undefined] : ['PATCH', path, { cidr: each.cidr }];
    }
  }
}

/** Makes the world anew, past the guard: restrictions are enforced in the store itself. */
async function reset(
  gatehouse: Gatehouse,
  policies: readonly string[],
  start: typeof world extends fc.Arbitrary<infer Value> ? Value : never,
): Promise<void> {
  await runOnHost(gatehouse, 'restrictions disable', { id: 'all' });
  const { store } = gatehouse.app.context;
  const old = (await gatehouse.get('/ip_restrictions')).body.ip_restrictions;
  for (const { id } of old) await gatehouse.delete(`/ip_restrictions/${id}`);
  for (const [at, id] of policies.entries()) await gatehouse.put(`/ip_policies/${id}/rules`, start.rules[at]);
  const made: string[] = [];
  for (const { type: kind, policies: named } of start.restrictions) {
    const body = { type: kind, ip_policy_ids: named.map((at) => policies[at]) };
    made.push((await gatehouse.create('/ip_restrictions', body)).id);
  }
  for (const [at, id] of made.entries()) {
    if (start.restrictions[at]?.enforced !== true) continue;
    await store.write({ id: 'host', accountId: '', operationId: '' }, async (transaction) => {
      const current = await ipRestrictions.load(transaction, id);
      if (current !== undefined) await ipRestrictions.update(transaction, current, { ...current, enforced: true });
    });
  }
}
