import assert from 'node:assert/strict';
import { test } from 'node:test';

import { modules } from '../../modules/index.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';
import { guardsOf } from '../guards.ts';

interface Told {
  readonly kind: string;
  readonly text: string;
  readonly rule: { readonly id: string; readonly cidr: string } | null;
  readonly decided_by: { readonly cidr: string } | null;
  readonly ip_policies: readonly { readonly id: string }[];
  readonly used_by: readonly string[];
  readonly example: string | null;
}

onGatehousesInTurn('findings about rules', (g) => {
  /** A policy with these rules; "!" denies. */
  async function policyOf(...rules: readonly string[]): Promise<string> {
    const { id } = await g().create('/ip_policies', {});
    const { status } = await g().put(`/ip_policies/${id}/rules`, rules);
    assert.equal(status, 200);
    return id;
  }

  async function findings(policyId?: string): Promise<readonly Told[]> {
    const query = policyId === undefined ? '' : `?ip_policy_id=${policyId}`;
    const { status, body } = await g().get(`/rule_findings${query}`);
    assert.equal(status, 200);
    assert.equal(body.is_complete, true);
    return body.findings;
  }

  const about = (all: readonly Told[], id: string) => all.filter(({ used_by }) => used_by.includes(id));
  const inShort = (all: readonly Told[]) =>
    all.map(({ kind, rule, decided_by }) => `${kind} ${rule?.cidr} ${decided_by?.cidr}`).toSorted();

  async function edgeWith(modulesOfRoute: object): Promise<{ readonly edge: string; readonly route: string }> {
    const { id: edge } = await g().create('/edges/https', { hostports: [`e${++count}.findings.test:443`] });
    const route = { match_type: 'path_prefix', match: '/', ...modulesOfRoute };
    return { edge, route: (await g().create(`/edges/https/${edge}/routes`, route)).id };
  }
  let count = 0;

  test('rules that never decide are told with the rule that decides in their place', async () => {
    const id = await policyOf(
      '10.0.0.0/8',
      '10.1.0.0/16',
      '!10.2.0.0/16',
      '10.2.3.0/24',
      '!192.0.2.0/24',
      '2001:db8::/32',
    );
    const told = await findings(id);
    assert.deepEqual(inShort(told), [
      'rule_contradictory 10.2.3.0/24 10.2.0.0/16',
      'rule_needless 192.0.2.0/24 undefined',
      'rule_shadowed 10.1.0.0/16 10.0.0.0/8',
    ]);
    const rules = (await g().get(`/ip_policies/${id}/rules`)).body.rules as readonly { id: string; cidr: string }[];
    for (const { rule } of told) assert.equal(rule?.id, rules.find(({ cidr }) => cidr === rule?.cidr)?.id);
    assert.match(
      told.map(({ text }) => text).join(),
      /"allow 10\.2\.3\.0\/24" .* lets nobody in, because "deny 10\.2\.0\.0\/16"/,
    );
  });

  test('a rule that decides in one of the lists that its policy is in is not told', async () => {
    const [one, other] = [await policyOf('10.1.0.0/16', '!10.1.1.0/24'), await policyOf('10.0.0.0/8')];
    await g().create('/ip_restrictions', { type: 'agent', ip_policy_ids: [one, other] });
    assert.deepEqual(inShort(await findings(one)), ['rule_shadowed 10.1.0.0/16 10.0.0.0/8']);
    await g().create('/ip_restrictions', { type: 'agent', ip_policy_ids: [one] });
    assert.deepEqual(inShort(await findings(one)), []);
  });

  test('of rules that two policies have both, one is told', async () => {
    const [one, other] = [await policyOf('10.1.0.0/16'), await policyOf('10.1.0.0/16')];
    await g().create('/ip_restrictions', { type: 'agent', ip_policy_ids: [other, one] });
    assert.deepEqual(inShort(await findings(one)), ['rule_duplicate 10.1.0.0/16 10.1.0.0/16']);
  });

  test('a denial is needed where another policy of the list allows its addresses', async () => {
    const [deny, allow] = [await policyOf('!10.1.0.0/16'), await policyOf('10.0.0.0/8')];
    assert.deepEqual(inShort(await findings(deny)), [
      'admits_nobody undefined undefined',
      'rule_needless 10.1.0.0/16 undefined',
    ]);
    await g().create('/ip_restrictions', { type: 'agent', ip_policy_ids: [deny, allow] });
    assert.deepEqual(inShort(await findings(deny)), []);
  });

  test('policies that let everybody or nobody in are told with what uses them', async () => {
    const [all, none] = [await policyOf('0.0.0.0/0', '::/0'), await policyOf('10.0.0.0/8', '!10.0.0.0/7')];
    const { id } = await g().create('/ip_restrictions', { type: 'agent', ip_policy_ids: [all] });
    const { id: closed } = await g().create('/ip_restrictions', { type: 'agent', ip_policy_ids: [none] });
    const told = await findings();
    assert.deepEqual(
      about(told, id).map(({ kind, example }) => [kind, example]),
      [['admits_everybody', '203.0.113.7']],
    );
    assert.deepEqual(
      about(told, closed).map(({ kind }) => kind),
      ['admits_nobody'],
    );
  });

  test('a policy without rules is told only where something uses it', async () => {
    const id = await policyOf();
    assert.deepEqual(await findings(id), []);
    await g().create('/ip_restrictions', { type: 'agent', ip_policy_ids: [id] });
    assert.deepEqual(
      (await findings(id)).map(({ kind }) => kind),
      ['admits_nobody'],
    );
  });

  test('routes and edges that nothing guards are told, and those with a guard are not', async () => {
    const [some, all] = [await policyOf('10.0.0.0/8'), await policyOf('0.0.0.0/0', '::/0')];
    const policy = (...actions: readonly object[]) => ({ value: JSON.stringify({ on_http_request: [{ actions }] }) });
    const kindsOf = async (modulesOfRoute: object) => {
      const { route } = await edgeWith(modulesOfRoute);
      return about(await findings(), route).flatMap(({ kind }) => (kind.startsWith('admits') ? [] : [kind]));
    };
    assert.deepEqual(await kindsOf({}), ['unguarded']);
    assert.deepEqual(await kindsOf({ ip_restriction: { ip_policy_ids: [some] } }), []);
    assert.deepEqual(await kindsOf({ ip_restriction: { ip_policy_ids: [all] } }), ['unguarded']);
    assert.deepEqual(await kindsOf({ ip_restriction: { enabled: false, ip_policy_ids: [some] } }), ['unguarded']);
    assert.deepEqual(
      await kindsOf({ basic_auth: { credentials: [{ username: 'ada', password: 'correct horse' }] } }),
      [],
    );
    assert.deepEqual(await kindsOf({ traffic_policy: policy({ type: 'deny' }) }), []);
    assert.deepEqual(await kindsOf({ traffic_policy: policy({ type: 'log', config: { metadata: {} } }) }), [
      'unguarded',
    ]);
    const restrict = (config: object) => ({ traffic_policy: policy({ type: 'restrict-ips', config }) });
    assert.deepEqual(await kindsOf(restrict({ allow: ['10.0.0.0/8'] })), []);
    assert.deepEqual(await kindsOf(restrict({ allow: ['0.0.0.0/0', '::/0'] })), ['unguarded']);
    assert.deepEqual(await kindsOf(restrict({ allow: ['10.0.0.0/8'], enforce: false })), ['unguarded']);
    assert.deepEqual(await kindsOf(restrict({ ip_policies: [some] })), []);
    assert.deepEqual(await kindsOf(restrict({ ip_policies: [all] })), ['unguarded']);
    const { id: tcp } = await g().create('/edges/tcp', {});
    assert.deepEqual(about(await findings(), tcp), [], 'it is reached nowhere');
  });

  test('what a traffic policy decides by its expressions cannot be told', async () => {
    const rule = { expressions: ["req.url.path == '/admin'"], actions: [{ type: 'deny' }] };
    const { route } = await edgeWith({ traffic_policy: { value: JSON.stringify({ on_http_request: [rule] }) } });
    assert.deepEqual(
      about(await findings(), route).map(({ kind }) => kind),
      ['cannot_tell'],
    );
  });

  test('an answer that refuses is a guard, and one that some get by an expression may be', async () => {
    const kindsOf = async (rule: object) => {
      const { route } = await edgeWith({ traffic_policy: { value: JSON.stringify({ on_http_request: [rule] }) } });
      return about(await findings(), route).map(({ kind }) => kind);
    };
    const answer = (status_code: number) => ({ type: 'custom-response', config: { status_code } });
    const redirect = { type: 'redirect', config: { to: 'https://login.test/' } };
    const expressions = ["!(conn.client_ip in ['10.0.0.1'])"];
    assert.deepEqual(await kindsOf({ actions: [answer(403)] }), []);
    assert.deepEqual(await kindsOf({ expressions, actions: [answer(403)] }), ['cannot_tell']);
    assert.deepEqual(await kindsOf({ expressions, actions: [redirect] }), ['cannot_tell']);
    assert.deepEqual(await kindsOf({ actions: [answer(200)] }), ['unguarded'], 'a page for everybody');
  });

  test("another account's things are never told", async () => {
    const others = await createUser(g(), 'admin', await createAccount(g()));
    const person = await createUser(g(), 'viewer', await createAccount(g()));
    const { id: policy } = await g().create('/ip_policies', {}, others);
    const rules = ['10.0.0.0/8', '10.1.0.0/16', '0.0.0.0/0', '::/0'];
    assert.equal((await g().put(`/ip_policies/${policy}/rules`, rules, others)).status, 200);
    await g().create('/ip_restrictions', { type: 'agent', ip_policy_ids: [policy] }, others);
    const { id: edge } = await g().create('/edges/https', { hostports: ['others.findings.test:443'] }, others);
    await g().create(`/edges/https/${edge}/routes`, { match_type: 'path_prefix', match: '/' }, others);
    await g().create('/edges/tcp', { hostports: ['others.findings.test:10443'] }, others);
    const value = JSON.stringify({ on_http_request: [{ actions: [{ type: 'deny' }] }] });
    await g().create('/reserved_domains', { domain: 'cloud.findings.test' }, others);
    await g().create('/endpoints', { url: 'https://cloud.findings.test', traffic_policy: value }, others);
    const seen = await g().get('/rule_findings', others);
    assert.ok(seen.body.findings.length > 3, seen.text);
    const told = await g().get('/rule_findings', person);
    assert.deepEqual([told.status, told.body.findings, told.body.is_complete], [200, [], true]);
    assert.deepEqual(new Set(Object.values(told.body.totals)), new Set([0]));
    const byId = await g().get(`/rule_findings?ip_policy_id=${policy}`, person);
    assert.deepEqual([byId.status, byId.body.error_code], [400, 'ERR_GATEHOUSE_20406']);
    const unknown = 'ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng';
    const missing = await g().get(`/rule_findings?ip_policy_id=${unknown}`, person);
    assert.equal(byId.body.msg.replace(policy, ''), missing.body.msg.replace(unknown, ''));
  });

  test('an enforced restriction of the account guards every edge, and one that warns none', async () => {
    const { route } = await edgeWith({});
    const some = await policyOf('10.0.0.0/8');
    const { id } = await g().create('/ip_restrictions', { type: 'endpoints', ip_policy_ids: [some] });
    assert.deepEqual(
      about(await findings(), route).map(({ kind }) => kind),
      ['unguarded'],
    );
    await g().patch(`/ip_restrictions/${id}`, { enforced: true });
    assert.deepEqual(about(await findings(), route), []);
    await g().delete(`/ip_restrictions/${id}`);
  });

  test('a cloud endpoint that anybody reaches is told, and none that only endpoints of the account forward to', async () => {
    const value = JSON.stringify({
      on_http_request: [{ actions: [{ type: 'custom-response', config: { status_code: 200 } }] }],
    });
    await g().create('/reserved_domains', { domain: 'open.findings.test' });
    const [{ id: open }, { id: internal }] = [
      await g().create('/endpoints', { url: 'https://open.findings.test', traffic_policy: value }),
      await g().create('/endpoints', { url: 'https://open.findings.internal', traffic_policy: value }),
    ];
    const all = await findings();
    assert.equal(about(all, open).length, 1);
    assert.deepEqual(about(all, internal), []);
  });

  test('a policy that is not there is refused', async () => {
    assert.equal((await g().get('/rule_findings?ip_policy_id=ipp_2tQzYDLwIVU45s8sSMNpRfQp1Ng')).status, 400);
  });
});

test('of each module it is known whether it decides who comes in', async () => {
  for (const { name } of modules) {
    if (['policy', 'traffic_policy', 'ip_restriction', 'cidr_restriction'].includes(name)) continue;
    const { isUnknown } = await guardsOf({ [name]: { enabled: true } }, 'ip_policy_ids', 'tcp_edge');
    assert.equal(isUnknown, false, name);
  }
});
