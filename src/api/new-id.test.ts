import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser } from '../../test/support/people.ts';
import { refuses } from '../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../test/support/shared-gatehouse.ts';

const withId = (id: string) => ({ headers: { 'gatehouse-new-id': id } });
/** The example of the specification: made on 2025-02-26. */
const body = '2tQzYDLwIVU45s8sSMNpRfQp1Ng';

onGatehousesInTurn('an id of another server', (g) => {
  test('is the one of a new resource, with the time that is written in it, until that is gone', async () => {
    const policy = await g().create('/ip_policies');
    const backend = await g().create('/backends/static', { address: 'a:1' });
    const edge = await g().create('/edges/https');
    for (const [path, prefix, fields] of [
      ['/ip_policies', 'ipp', {}],
      ['/ip_policy_rules', 'ipr', { ip_policy_id: policy.id, cidr: '10.0.0.0/8', action: 'allow' }],
      ['/ip_restrictions', 'ipx', { type: 'endpoints', ip_policy_ids: [policy.id] }],
      ['/backends/static', 'bkdsc', { address: 'b:1' }],
      ['/backends/tunnel_group', 'bkdtg', { labels: { a: 'b' } }],
      ['/edges/tcp', 'edgtcp', { backend: { backend_id: backend.id } }],
      ['/edges/https', 'edghts', { hostports: ['kept.example.com:443'] }],
      [`/edges/https/${edge.id}/routes`, 'edghtsrt', { match_type: 'path_prefix', match: '/' }],
      ['/reserved_domains', 'rd', { domain: 'kept-too.example.com' }],
      ['/bot_users', 'bot', { name: 'kept' }],
    ] as const) {
      const id = `${prefix}_${body}`;
      const { status, body: made } = await g().post(path, fields, withId(id));
      assert.deepEqual([status, made.id, made.created_at.slice(0, 7)], [201, id, '2025-02'], JSON.stringify(made));
      assert.equal((await g().get(`${path}/${id}`)).body.id, id);
      assert.equal((await g().delete(`${path}/${id}`)).status, 204);
    }
  });

  test('is not taken from whoever has it, in whatever account', async () => {
    const { id } = await g().create('/ip_policies', { description: 'first' });
    const { token } = await createUser(g(), 'admin', await createAccount(g()));
    for (const options of [withId(id), { ...withId(id), token }]) {
      const { status, body: made } = await g().post('/ip_policies', { description: 'second' }, options);
      assert.equal(status, 201);
      assert.notEqual(made.id, id);
    }
    assert.equal((await g().get(`/ip_policies/${id}`)).body.description, 'first');
  });

  test('is refused where it is none of this resource, or of the future, and from members', async () => {
    for (const id of [
      '',
      'ipp_1',
      `ipr_${body}`,
      `ipp_${body}0`,
      'ipp_zzzzzzzzzzzzzzzzzzzzzzzzzzz',
      'ipp_aWgEPTl1tmebfsQzFP4bxwgy80V',
    ])
      await refuses(g(), ['POST', '/ip_policies', {}, withId(id)], 400, 215);
    const { token } = await createUser(g(), 'member');
    await refuses(g(), ['POST', '/ip_policies', {}, { ...withId(`ipp_${body}`), token }], 403, 20007);
  });
});
