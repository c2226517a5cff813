import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';

import { onAnyDatabase } from '../../support/each-database.ts';
import { shortMs, staysShort } from './support/stays-short.ts';
import { WatchedProgram } from './support/watched-program.ts';
import type { SentBody } from './support/watched-program.ts';

const json = (text: string): SentBody => ({ type: 'application/json', text });
const lines = (text: string): SentBody => ({ type: 'text/plain', text });
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const listOf = (count: number, entry: (at: number) => string) => Array.from({ length: count }, (_, at) => entry(at));
const network = (first: number, at: number) => `${first}.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}/32`;

onAnyDatabase('no call keeps everybody else waiting', (newDatabase) => {
  describe('with one program', () => {
    let program: WatchedProgram;
    let policy = '';
    let headers = '';
    before(async () => {
      program = await WatchedProgram.start(await newDatabase());
      policy = await program.create('/ip_policies');
      const edge = await program.create('/edges/https', { hostports: ['stalls.example.com:443'] });
      const route = await program.create(`/edges/https/${edge}/routes`, { match: '/', match_type: 'path_prefix' });
      headers = `/edges/https/${edge}/routes/${route}/request_headers`;
    });
    after(() => program[Symbol.asyncDispose]());

    const answers = (status: number, call: () => ReturnType<WatchedProgram['call']>): Promise<void> =>
      staysShort(program, async () => {
        const answer = await call();
        assert.equal(answer.status, status, answer.text);
      });

    test('80,000 unknown fields', () => {
      const body = json(`{${listOf(80_000, (at) => `"k${at}":1`).join()}}`);
      return answers(400, () => program.call('POST', '/ip_policies', body));
    });

    test('70,000 names of headers', async () => {
      const added = json(`{"add":{${listOf(70_000, (at) => `"k${at}":"1"`).join()}}}`);
      await answers(400, () => program.call('PUT', headers, added));
      const removed = json(`{"remove":[${listOf(70_000, (at) => `"k${at}"`).join()}]}`);
      await answers(400, () => program.call('PUT', headers, removed));
    });

    test('a list of rules that is 10 MB of nothing, of brackets, of numbers or of one text', async () => {
      const path = `/ip_policies/${policy}/rules`;
      await answers(200, () => program.call('PUT', path, lines('\n'.repeat(10_000_000))));
      await answers(400, () => program.call('PUT', path, json(`[${nested(5_000_000)}]`)));
      await answers(400, () => program.call('PUT', path, json(`[${'1,'.repeat(5_000_000)}1]`)));
      await answers(400, () => program.call('PUT', path, json(`["${'x'.repeat(10_000_000)}"]`)));
      await answers(400, () => program.call('PUT', path, json(`{"a":"${'x'.repeat(10_000_000)}"}`)));
    });

    test('100,000 rules, replaced by as many others, changed, and deleted with their policy', async () => {
      const path = `/ip_policies/${policy}/rules`;
      let first = 10;
      await answers(200, () => {
        first += 1;
        return program.call('PUT', path, lines(listOf(100_000, (at) => network(first, at)).join('\n')));
      });
      await answers(200, () => {
        first += 1;
        const rules = listOf(100_000, (at) => `{"cidr":"${network(first, at)}","description":"d"}`);
        return program.call('PUT', path, json(`[${rules.join()}]`));
      });
      let at = 0;
      await answers(201, () => {
        at += 1;
        const rule = { ip_policy_id: policy, cidr: `192.0.2.${at}/32`, action: 'allow' };
        return program.call('POST', '/ip_policy_rules', json(JSON.stringify(rule)));
      });
      await answers(200, () => program.call('GET', '/ip_policy_rules'));
      await program.longestMs();
      assert.equal((await program.call('DELETE', `/ip_policies/${policy}`)).status, 204);
      assert.ok((await program.longestMs()) <= shortMs());
    });
  });
});
