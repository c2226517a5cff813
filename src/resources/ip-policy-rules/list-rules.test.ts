import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createAccount, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';

onGatehousesInTurn('the rules of one policy', (g) => {
  const newPolicy = async (list: unknown): Promise<string> => {
    const { id } = await g().create('/ip_policies');
    assert.equal((await g().put(`/ip_policies/${id}/rules`, list)).status, 200);
    return id;
  };
  const shown = (rules: readonly { action: string; cidr: string }[]) =>
    rules.map(({ action, cidr }) => `${action} ${cidr}`);

  test('are listed with their totals, in the order of their CIDRs, and those of no other policy', async () => {
    await newPolicy(['192.0.2.0/24']);
    const id = await newPolicy(['203.0.113.0/24', { cidr: '10.0.0.0/8', action: 'deny', description: 'inside' }]);
    const { status, body } = await g().get(`/ip_policies/${id}/rules`);
    assert.equal(status, 200);
    assert.deepEqual(shown(body.rules), ['deny 10.0.0.0/8', 'allow 203.0.113.0/24']);
    assert.equal(body.rules[0].description, 'inside');
    assert.match(body.rules[0].id, /^ipr_/);
    assert.deepEqual(body.totals, { allow: 1, deny: 1 });
    assert.equal(body.next_page_uri, null);
  });

  test('come in pages, each once, and all of them', async () => {
    const list = Array.from({ length: 5000 }, (_, index) => `10.${index >> 8}.${index & 255}.0/24`);
    const id = await newPolicy(list);
    const read: string[] = [];
    let pages = 0;
    for (let uri: string | null = `/ip_policies/${id}/rules`; uri !== null; pages++) {
      const { body }: { body: { rules: { cidr: string }[]; totals?: object; next_page_uri: string | null } } =
        await g().get(uri);
      assert.deepEqual(body.totals, pages === 0 ? { allow: 5000, deny: 0 } : undefined);
      read.push(...body.rules.map(({ cidr }) => cidr));
      uri = body.next_page_uri;
    }
    assert.equal(pages, 3);
    assert.deepEqual(read, list.toSorted());
  });

  test('are counted for a list of policies, up to a bound that policies share, and those of no other account', async () => {
    const list = Array.from({ length: 1001 }, (_, index) => `10.${index >> 8}.${index & 255}.0/24`);
    const [many, two, none] = [await newPolicy(list), await newPolicy(list.slice(0, 2)), await newPolicy([])];
    const { body } = await g().get('/ip_policy_rule_counts');
    assert.deepEqual(body.counts.slice(0, 3), [
      { ip_policy_id: none, rules: 0, has_more: false },
      { ip_policy_id: two, rules: 2, has_more: false },
      { ip_policy_id: many, rules: 1001, has_more: false },
    ]);
    for (let count = 0; count < 100; count++) await newPolicy([]);
    const { counts } = (await g().get('/ip_policy_rule_counts')).body;
    assert.deepEqual(
      counts.find(({ ip_policy_id: id }: { ip_policy_id: string }) => id === many),
      { ip_policy_id: many, rules: 1000, has_more: true },
    );
    const { token } = await createUser(g(), 'admin', await createAccount(g()));
    assert.deepEqual((await g().get('/ip_policy_rule_counts', { token })).body.counts, []);
  });

  test('have an ETag that a replacement can demand', async () => {
    const id = await newPolicy(['192.0.2.0/24']);
    const path = `/ip_policies/${id}/rules`;
    const etag = (await g().get(path)).headers.get('etag') ?? '';
    const demanding = { headers: { 'if-match': etag } };
    assert.equal((await g().put(path, ['192.0.2.0/24', '!198.51.100.0/24'], demanding)).status, 200);
    await refuses(g(), ['PUT', path, [], demanding], 412, 20_020);
    assert.notEqual((await g().get(path)).headers.get('etag'), etag);
  });

  test('are refused to other accounts, and for a page after what is no CIDR', async () => {
    const path = `/ip_policies/${await newPolicy(['192.0.2.0/24'])}/rules`;
    const { token } = await createUser(g(), 'admin', await createAccount(g()));
    await refuses(g(), ['GET', path, undefined, { token }], 404, 222);
    await refuses(g(), ['GET', `${path}?after=nowhere`], 400, 1406);
    await refuses(g(), ['GET', `${path}?limit=5`], 400, 231);
    await refuses(g(), ['GET', `${path}?after=10.0.0.0/8&after=10.0.0.0/8`], 400, 232);
  });
});
