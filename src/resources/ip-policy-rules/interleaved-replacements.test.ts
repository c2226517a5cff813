import assert from 'node:assert/strict';
import { test } from 'node:test';

import { Random } from '../../../test/e2e/gateway/support/random.ts';
import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { from } from '../../../test/support/people.ts';
import { checkStored, storedRules } from '../../../test/support/stored-rules.ts';
import { ruleSets } from './service.ts';

const isLong = process.env['TEST_LONG'] === '1';
const rounds = isLong ? 600 : 20;
const seed = Number(process.env['TEST_SEED'] ?? Date.now() % 1_000_000);

/** Rule that admits the callers of this test: a list without it is refused. */
const own = '127.0.0.0/8';
const blockRules = isLong ? 600 : 10;
/** Rows that are written at once; longer lists take the other ways. */
const rowsAtOnce = isLong ? 1_024 : 16;
const blockCount = 8;

/** Rules of a block; whether they deny is part of what a list chooses. */
function block(at: number, mark: string): readonly string[] {
  return Array.from({ length: blockRules }, (_, rule) => `${mark}10.${at}.${rule >> 8}.${rule & 255}/32`);
}

type Rules = ReadonlySet<string>;
/** Returns the rules after a call; undefined where it must be refused. */
type Effect = (rules: Rules) => Rules | undefined;

interface Step {
  readonly effect: Effect;
  /** True if the call was carried out. */
  send(gatehouse: Gatehouse): Promise<boolean>;
}

function randomList(random: Random): readonly string[] {
  const blocks = Array.from({ length: blockCount }, (_, at) => {
    const choice = random.below(5);
    return choice < 2 ? [] : block(at, choice === 2 ? '!' : '');
  }).flat();
  // One in three locks its caller out.
  return random.below(3) === 0 ? blocks : [own, ...blocks];
}

function replacement(policy: string, list: readonly string[]): Step {
  return {
    effect: () => (list.includes(own) ? new Set(list) : undefined),
    async send(gatehouse) {
      const { status, body, text } = await gatehouse.put(`/ip_policies/${policy}/rules`, list);
      assert.ok(status === 200 || (status === 409 && !list.includes(own)), text);
      if (status === 200) assert.equal(body.added + body.kept, list.length);
      return status === 200;
    },
  };
}

/** Changes of a few rules of the list that was in force before the round. */
function smallReplacement(policy: string, random: Random, rules: Rules): Step {
  const list = [...rules].filter((rule) => rule === own || random.below(100) > 0);
  return replacement(policy, [...new Set([...list, `198.51.100.${random.below(256)}/32`])]);
}

function addition(policy: string, cidr: string): Step {
  return {
    effect: (rules) => new Set([...rules, `!${cidr}`]),
    async send(gatehouse) {
      await gatehouse.create('/ip_policy_rules', { ip_policy_id: policy, cidr, action: 'deny' });
      return true;
    },
  };
}

function deletion(id: string, rule: string): Step {
  return {
    effect: (rules) => (rules.has(rule) ? new Set([...rules].filter((each) => each !== rule)) : undefined),
    async send(gatehouse) {
      const { status, text } = await gatehouse.delete(`/ip_policy_rules/${id}`);
      assert.ok(status === 204 || status === 404, text);
      return status === 204;
    },
  };
}

/** Lists that the steps leave in any order in which they take place. */
function* outcomes(rules: Rules, steps: readonly Step[]): Generator<Rules> {
  if (steps.length === 0) yield rules;
  for (const step of steps) {
    const left = step.effect(rules);
    if (left !== undefined)
      yield* outcomes(
        left,
        steps.filter((each) => each !== step),
      );
  }
}

async function randomSteps(gatehouse: Gatehouse, policy: string, random: Random, rules: Rules, round: number) {
  const { queries } = gatehouse.app.context.store;
  const steps: Step[] = [];
  for (let at = 0; at < 3; at++) {
    const kind = random.below(8);
    if (kind < 5) steps.push(replacement(policy, randomList(random)));
    else if (kind === 5) steps.push(smallReplacement(policy, random, rules));
    else if (kind === 6) steps.push(addition(policy, `192.0.${round & 255}.${(round >> 8) * 3 + at}/32`));
    else {
      const sql = 'SELECT id, cidr, action FROM ip_policy_rules WHERE ip_policy_id = $1 AND cidr <> $2 LIMIT 1';
      const [[id, cidr, action] = []] = await queries.all(sql, [policy, own]);
      if (id !== undefined) steps.push(deletion(String(id), `${action === 'deny' ? '!' : ''}${cidr}`));
    }
  }
  return steps;
}

/** Checks a few addresses against what the running process enforces. */
async function checkEnforced(gatehouse: Gatehouse, rules: Rules, random: Random): Promise<void> {
  await gatehouse.app.context.store.poll();
  for (let at = 0; at < blockCount; at++) {
    const rule = random.below(blockRules);
    const address = `10.${at}.${rule >> 8}.${rule & 255}`;
    const { status } = await gatehouse.get('/ip_policies?limit=1', from(address));
    assert.equal(status, rules.has(`${address}/32`) ? 200 : 403, address);
  }
}

onEachDatabase('replacements, single writes and restarts in any order', (newDatabase) => {
  test('leave the rules of one order, over two processes', async (t) => {
    t.diagnostic(`TEST_SEED=${seed}`);
    const random = new Random(seed);
    const url = await newDatabase();
    const start = async () => {
      const gatehouse = await Gatehouse.start(url, { trustedProxies: '127.0.0.1' });
      Object.assign(gatehouse.app.context.services.get(ruleSets), { rowsAtOnce, rowsInStep: rowsAtOnce / 4 });
      return gatehouse;
    };
    await using first = await start();
    let second = await start();
    try {
      const { id: policy } = await first.create('/ip_policies');
      let rules: Rules = new Set([own]);
      assert.ok(await replacement(policy, [own]).send(first));
      await first.create('/ip_restrictions', { type: 'api', enforced: true, ip_policy_ids: [policy] });
      for (let round = 0; round < rounds; round++) {
        const what = `round ${round} of seed ${seed}`;
        const steps = await randomSteps(first, policy, random, rules, round);
        const done = await Promise.all(steps.map((step) => step.send(random.pick([first, second]))));
        const stored = await storedRules(first.app.context.store, policy);
        const text = stored.join();
        const carriedOut = steps.filter((_, at) => done[at]);
        const left = [...outcomes(rules, carriedOut)].find((each) => [...each].toSorted().join() === text);
        assert.ok(left, `${what}: ${stored.length} rules are those of no order`);
        rules = left;
        await checkStored(first.app.context.store, policy, [...rules]);
        for (const each of [first, second]) await checkEnforced(each, rules, random);
        if (random.below(5) === 0) {
          await second[Symbol.asyncDispose]();
          second = await start();
          await checkEnforced(second, rules, random);
        }
      }
    } finally {
      await second[Symbol.asyncDispose]();
    }
  });
});
