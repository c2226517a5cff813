import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';

import { Gatehouse } from '../../../test/support/gatehouse.ts';

/** The largest list in one call, once: on SQLite, where all of it happens in this process. */
describe('a policy of 100,000 rules', () => {
  let folder = '';
  let gatehouse: Gatehouse;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'gatehouse-'));
    gatehouse = await Gatehouse.start(`sqlite:${join(folder, 'gatehouse.db')}`);
  });
  after(async () => {
    await gatehouse[Symbol.asyncDispose]();
    await rm(folder, { recursive: true, force: true });
  });

  const lines = Array.from({ length: 100_000 }, (_, at) => `10.${(at >> 16) & 255}.${(at >> 8) & 255}.${at & 255}/32`);

  test('is set in one call while other calls are answered, and enforced when that call is', async () => {
    const { id } = await gatehouse.create('/ip_policies');
    const send = (raw: string) =>
      gatehouse.put(`/ip_policies/${id}/rules`, undefined, { raw, headers: { 'content-type': 'text/plain' } });
    const replaced = send(lines.join('\n'));
    const state = { done: false };
    const markDone = replaced.finally(() => (state.done = true));
    let answeredMeanwhile = 0;
    while (!state.done) {
      assert.equal((await gatehouse.get(`/ip_policies/${id}`)).status, 200);
      answeredMeanwhile += 1;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.deepEqual((await markDone).body, { added: 100_000, removed: 0, kept: 0 });
    // One of them could have been sent before and answered after; three cannot.
    assert.ok(answeredMeanwhile > 2, `${answeredMeanwhile} calls were answered meanwhile`);
    const restriction = { type: 'api', enforced: true, ip_policy_ids: [id] };
    assert.equal((await gatehouse.post('/ip_restrictions', restriction)).status, 409);
    const kept = [...lines.slice(1), '127.0.0.0/8'].join('\n');
    assert.deepEqual((await send(kept)).body, { added: 1, removed: 1, kept: 99_999 });
    await gatehouse.create('/ip_restrictions', restriction);
    const deny = { ip_policy_id: id, cidr: '127.0.0.1/32', action: 'deny' };
    assert.equal((await gatehouse.post('/ip_policy_rules', deny)).status, 409);
  });

  test('is the most that one call takes', async () => {
    const { id } = await gatehouse.create('/ip_policies');
    const answer = await gatehouse.put(`/ip_policies/${id}/rules`, [...lines, '11.0.0.0/8']);
    assert.equal(answer.body.error_code, 'ERR_GATEHOUSE_1411');
    assert.match(answer.body.msg, /100000.*100001/);
  });
});
