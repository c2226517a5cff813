import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { onAnyDatabase } from '../../support/each-database.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { createAccount, createUser } from '../../support/people.ts';
import { rounds } from '../../support/long-form.ts';
import { someOf } from '../../support/sample.ts';
import { staysShort } from './support/stays-short.ts';
import { WatchedProgram } from './support/watched-program.ts';

const listOf = (count: number, entry: (at: number) => string) => Array.from({ length: count }, (_, at) => entry(at));
/** As many repetitions of a condition as a filter has room for. */
const asManyAs = (condition: string) => listOf(Math.floor(4_096 / (condition.length + 2)), () => condition).join('||');
const list = (path: string, filter: string) => `${path}?filter=${encodeURIComponent(filter)}`;

/** Entries that are looked through, beside some long ones. */
const entries = rounds(3_000, 97_000);

/** Filters that no entry passes, and that take long to say so. */
const hostileToTexts = [
  'obj.id<"a"',
  `obj.metadata.contains("${'a'.repeat(60)}b")`,
  `obj.metadata.contains("${'a'.repeat(2_000)}b")`,
  'size(obj.metadata)>9999',
].map(asManyAs);
/** As many as may be looked into. */
const hostileToLists = ['"b" in obj.hostports', 'size(obj.hostports) > 9999'].map((condition) =>
  listOf(32, () => condition).join('||'),
);
const hostileToChanges = ['obj.id<"a"', 'obj.version<0.5'].map(asManyAs);

onAnyDatabase('a hostile filter', (newDatabase) => {
  describe(`over ${entries + 3_000} entries`, () => {
    let program: WatchedProgram;
    let neighbour = '';
    before(async () => {
      const url = await newDatabase();
      program = await WatchedProgram.start(url);
      const replace = async (type: 'text/plain' | 'application/json', text: string) => {
        const policy = await program.create('/ip_policies');
        const { status } = await program.call('PUT', `/ip_policies/${policy}/rules`, { type, text });
        assert.equal(status, 200);
      };
      const rules = (first: number, count: number) =>
        listOf(count, (at) => `${first}.${at >> 16}.${(at >> 8) & 255}.${at & 255}/32`);
      await replace('text/plain', rules(10, entries).join('\n'));
      const long = rules(11, 2_000).map((cidr) => `{"cidr":"${cidr}","metadata":"${'a'.repeat(4_096)}"}`);
      await replace('application/json', `[${long.join()}]`);
      // A search meets the newest first: its steps have grown over short entries when it comes to the long ones.
      await replace('text/plain', rules(12, 1_000).join('\n'));
      for (let edge = 0; edge < 5; edge++) {
        const label = 'a'.repeat(60);
        const hostports = listOf(1_000, (at) => `e${edge}-${at}.${label}.${label}.${label}.example.com:443`);
        await program.create('/edges/https', { hostports });
      }
      for (let count = 0; count < 200; count++) await program.create('/ip_policies');
      await using other = await Gatehouse.start(url);
      neighbour = (await createUser(other, 'admin', await createAccount(other))).token;
    });
    after(() => program[Symbol.asyncDispose]());

    const runs = async (path: string, filter: string) => {
      const answer = await program.call('GET', list(path, filter));
      assert.ok([200, 400].includes(answer.status), answer.text);
      return answer;
    };
    for (const filter of someOf(hostileToTexts, 2, 'hostile filters', 'texts')) {
      test(`runs in short pieces: ${filter.slice(0, 60)}`, () =>
        staysShort(program, () => runs('/ip_policy_rules', filter)));
    }
    for (const filter of someOf(hostileToLists, 1, 'hostile filters', 'lists')) {
      test(`runs in short pieces over lists: ${filter.slice(0, 60)}`, () =>
        staysShort(program, () => runs('/edges/https', filter)));
    }
    for (const filter of someOf(hostileToChanges, 1, 'hostile filters', 'changes')) {
      test(`runs in short pieces over changes: ${filter.slice(0, 60)}`, () =>
        staysShort(program, () => runs('/changes', filter)));
    }
    test('lets calls of another account through while it runs', async () => {
      const state = { isOver: false };
      const hostile = Promise.any(
        listOf(3, () => hostileToTexts[0] ?? '').map((filter) => runs('/ip_policy_rules', filter)),
      ).finally(() => (state.isOver = true));
      for (let count = 0; count < 5; count++) {
        const { status } = await program.call('GET', '/ip_policies', undefined, neighbour);
        assert.equal(status, 200);
      }
      assert.ok(!state.isOver, 'the calls waited until the filter had ended');
      await hostile;
    });
  });
});
