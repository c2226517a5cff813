import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DashboardBrowser } from '../../../test/support/dashboard-browser.ts';
import { from } from '../../../test/support/people.ts';
import { onEachGatehouse } from '../../../test/support/shared-gatehouse.ts';

const here = '192.0.2.1';
const elsewhere = '203.0.113.9';
const codeOf = ({ status, body }: { readonly status: number; readonly body?: { readonly error_code?: string } }) =>
  [status, Number(body?.error_code?.replace('ERR_GATEHOUSE_', '') ?? 0)] as const;

onEachGatehouse(
  'restrictions of the type dashboard',
  (gatehouse) => {
    /** A policy that allows the one address. */
    const policyFor = async (address: string): Promise<string> => {
      const { id } = await gatehouse().create('/ip_policies');
      await gatehouse().create('/ip_policy_rules', { ip_policy_id: id, cidr: `${address}/32`, action: 'allow' });
      return id;
    };
    const restrict = async (type: string, address: string, enforced: boolean) =>
      gatehouse().create(
        '/ip_restrictions',
        { type, enforced, description: `only ${address}`, ip_policy_ids: [await policyFor(address)] },
        { headers: { 'gatehouse-allow-lockout': 'true' } },
      );
    const signedIn = (address: string) =>
      DashboardBrowser.signedIn(gatehouse(), gatehouse().token, { 'x-forwarded-for': address });
    const lift = ({ id }: { readonly id: string }) => gatehouse().delete(`/ip_restrictions/${id}`, from(here));

    test('admit sessions, not tokens, and those of the type api admit tokens, not sessions', async () => {
      const [browser, stranger] = [await signedIn(here), await signedIn(elsewhere)];
      const ofApi = await restrict('api', here, true);
      assert.deepEqual(codeOf(await gatehouse().get('/api_keys', from(elsewhere))), [403, 220]);
      assert.equal((await stranger.get('/api_keys')).status, 200);
      await lift(ofApi);
      const ofDashboard = await restrict('dashboard', here, true);
      assert.equal((await gatehouse().get('/api_keys', from(elsewhere))).status, 200);
      assert.equal((await browser.get('/api_keys')).status, 200);
      const refused = await stranger.get('/api_keys');
      assert.deepEqual(codeOf(refused), [403, 220]);
      assert.ok(refused.body.msg.includes(elsewhere) && refused.body.msg.includes(ofDashboard.id), refused.body.msg);
      const signIn = new DashboardBrowser(gatehouse(), { 'x-forwarded-for': elsewhere });
      assert.deepEqual(codeOf(await signIn.signIn(gatehouse().token)), [403, 220]);
      assert.equal(signIn.cookie, undefined);
      assert.equal((await signIn.delete('/dashboard/session')).status, 204, 'signing out is possible from anywhere');
      await lift(ofDashboard);
    });

    test('end a session that they refuse, for good', async () => {
      const browser = await signedIn(elsewhere);
      const restriction = await restrict('dashboard', here, true);
      assert.deepEqual(codeOf(await browser.get('/api_keys')), [403, 220]);
      await lift(restriction);
      assert.deepEqual(codeOf(await browser.get('/api_keys')), [401, 20172]);
    });

    test('cannot lock out the session that makes, enforces or tightens them, unless it is meant', async () => {
      const browser = await signedIn(here);
      const [mine, other] = [await policyFor(here), await policyFor(elsewhere)];
      const create = (type: string, policyId: string, headers = {}) =>
        browser.post('/ip_restrictions', { type, enforced: true, ip_policy_ids: [policyId] }, { headers });
      const refused = await create('dashboard', other);
      assert.deepEqual(codeOf(refused), [409, 20005]);
      assert.ok(refused.body.msg.includes(here), refused.body.msg);

      const made = await create('dashboard', mine);
      assert.equal(made.status, 201);
      const path = `/ip_restrictions/${made.body.id}`;
      assert.deepEqual(codeOf(await browser.call('PATCH', path, { ip_policy_ids: [other] })), [409, 20005]);
      const { ip_policy_rules: rules } = (await browser.get('/ip_policy_rules')).body;
      const rule = rules.find((each: { ip_policy: { id: string } }) => each.ip_policy.id === mine);
      assert.deepEqual(codeOf(await browser.delete(`/ip_policy_rules/${rule.id}`)), [409, 20005]);
      assert.equal((await browser.get('/api_keys')).status, 200);

      const warning = await browser.post('/ip_restrictions', { type: 'dashboard', ip_policy_ids: [other] });
      const warningPath = `/ip_restrictions/${warning.body.id}`;
      assert.deepEqual(codeOf(await browser.call('PATCH', warningPath, { enforced: true })), [409, 20005]);

      const ofApi = await create('api', other);
      assert.equal(ofApi.status, 201, 'it does not admit the session');
      assert.equal((await browser.delete(`/ip_restrictions/${ofApi.body.id}`)).status, 204);
      const byToken = { type: 'dashboard', enforced: true, ip_policy_ids: [other] };
      const closed = await gatehouse().create('/ip_restrictions', byToken, from(here));
      await gatehouse().delete(`/ip_restrictions/${closed.id}`);

      const again = await signedIn(here);
      const meant = { headers: { 'gatehouse-allow-lockout': 'true' } };
      assert.equal((await again.call('PATCH', warningPath, { enforced: true }, meant)).status, 200);
      assert.deepEqual(codeOf(await again.get('/api_keys')), [403, 220]);
      for (const each of [path, warningPath]) await gatehouse().delete(each);
    });

    test('that only warn are named to the session, counted and logged', async () => {
      const restriction = await restrict('dashboard', here, false);
      const browser = new DashboardBrowser(gatehouse(), { 'x-forwarded-for': '198.51.100.77' });
      const named = [{ id: restriction.id, description: `only ${here}` }];
      assert.deepEqual((await browser.signIn(gatehouse().token)).body.would_be_refused_by, named);
      const shown = await browser.get('/dashboard/session');
      assert.deepEqual([shown.body.would_be_refused_by, shown.body.address], [named, '198.51.100.77']);
      assert.equal((await browser.get('/api_keys')).headers.get('gatehouse-warning'), restriction.id);
      const { body } = await gatehouse().get(`/ip_restrictions/${restriction.id}/warnings`);
      const counts = body.warnings.map(({ source, count }: { source: string; count: number }) => [source, count]);
      assert.deepEqual(counts, [['198.51.100.77', 3]]);
      assert.ok(gatehouse().logLines.some((line) => line.includes(restriction.id) && line.includes('198.51.100.77')));
      const fine = await DashboardBrowser.signedIn(gatehouse(), gatehouse().token, { 'x-forwarded-for': here });
      assert.deepEqual((await fine.get('/dashboard/session')).body.would_be_refused_by, []);
      await lift(restriction);
    });
  },
  { trustedProxies: '127.0.0.1' },
);
