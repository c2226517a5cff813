import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';

import { openDatabase } from '../../../src/store/open-database.ts';
import { onEachDatabase } from '../../support/each-database.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { rounds } from '../../support/long-form.ts';
import { checkStored } from '../../support/stored-rules.ts';
import { until } from '../gateway/support/until.ts';
import { WatchedProgram } from './support/watched-program.ts';

const limitMs = 300_000;
/** Takes much longer than it takes to see that it has begun. */
const large = rounds(30_000, 60_000);

/** A list whose networks begin with `first`, as the body of a call. */
function rules(first: number, count: number): { readonly type: 'text/plain'; readonly text: string } {
  const all = Array.from({ length: count }, (_, at) => `${first}.${at >> 8}.${at & 255}.0/24`);
  return { type: 'text/plain', text: all.join('\n') };
}

onEachDatabase('a program that is killed while it replaces the rules of a policy', (newDatabase) => {
  let url: string;
  let program: WatchedProgram;
  before(async () => {
    url = await newDatabase();
    program = await WatchedProgram.start(url);
  });
  after(() => program[Symbol.asyncDispose]());

  test('has changed nothing, and what it had prepared is deleted by the next one', async () => {
    const database = await openDatabase(url);
    try {
      const count = async (table: string) =>
        Number((await database.reader.all(`SELECT count(*) FROM ${table}`))[0]?.[0]);
      const shown = () => database.reader.all('SELECT id, cidr FROM ip_policy_rules ORDER BY cidr');
      const policy = await program.create('/ip_policies');
      assert.equal((await program.call('PUT', `/ip_policies/${policy}/rules`, rules(10, 3_000))).status, 200);
      const kept = await shown();
      const state = { isOver: false };
      const replaced = program
        .call('PUT', `/ip_policies/${policy}/rules`, rules(11, large))
        .catch(() => undefined)
        .finally(() => (state.isOver = true));
      await until(async () => (await count('ip_policy_rule_rows')) > 3_000, 'rules are prepared', limitMs);
      assert.ok(!state.isOver);
      await program.kill();
      assert.equal(await replaced, undefined);
      assert.deepEqual(await shown(), kept);
      assert.ok((await count('ip_policy_rule_rows')) > 3_000);

      // As if the time of the set had passed.
      const connection = await database.connect();
      await connection.run("UPDATE ip_policy_rule_sets SET delete_after = '2020-01-01T00:00:00Z'");
      await connection.close();
      program = await WatchedProgram.start(url);
      await until(async () => (await count('ip_policy_rule_rows')) === 3_000, 'what was prepared is deleted', limitMs);
      assert.deepEqual(await shown(), kept);
      const answer = await program.call('PUT', `/ip_policies/${policy}/rules`, rules(11, 4_000));
      assert.deepEqual(JSON.parse(answer.text), { added: 4_000, removed: 3_000, kept: 0 });
    } finally {
      await database.close();
    }
  });

  test('leaves the list of a replacement in another program as it was sent', async () => {
    const database = await openDatabase(url);
    try {
      await using killed = await WatchedProgram.start(url);
      const policy = await program.create('/ip_policies');
      const path = `/ip_policies/${policy}/rules`;
      const replace = (...parts: readonly ReturnType<typeof rules>[]) =>
        program.call('PUT', path, { type: 'text/plain', text: parts.map(({ text }) => text).join('\n') });
      assert.equal((await replace(rules(10, 8_000))).status, 200);
      assert.equal((await replace(rules(10, 8_000), rules(11, 1_500))).status, 200);
      const prepared = async (first: number) => {
        const sql = 'SELECT count(*) FROM ip_policy_rule_rows WHERE cidr LIKE $1';
        return Number((await database.reader.all(sql, [`${first}.%`]))[0]?.[0]);
      };
      const lost = killed.call('PUT', path, rules(12, large)).catch(() => undefined);
      await until(async () => (await prepared(12)) > 1_000, 'rules are prepared', limitMs);
      const replaced = replace(rules(10, 8_000), rules(13, 1_500));
      await until(async () => (await prepared(12)) > 5_000, 'more rules are prepared', limitMs);
      await killed.kill();
      assert.equal(await lost, undefined);
      const connection = await database.connect();
      await connection.run("UPDATE ip_policy_rule_sets SET delete_after = '2020-01-01T00:00:00Z'");
      await connection.close();
      assert.deepEqual(JSON.parse((await replaced).text), { added: 1_500, removed: 1_500, kept: 8_000 });
      await using fresh = await Gatehouse.start(url);
      const list = [rules(10, 8_000), rules(13, 1_500)].flatMap(({ text }) => text.split('\n'));
      await checkStored(fresh.app.context.store, policy, list);
    } finally {
      await database.close();
    }
  });
});
