import assert from 'node:assert/strict';
import { test } from 'node:test';

import { lead, onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';

onDashboard('what is proved about rules', (d) => {
  test('stands on the overview, beside the rule with the one that decides, and on the page of what nothing guards', async () => {
    const { gatehouse } = d();
    const office = await gatehouse.create('/ip_policies', { description: 'Offices' });
    await gatehouse.put(`/ip_policies/${office.id}/rules`, [
      '198.51.100.0/24',
      { cidr: '198.51.100.64/26', description: 'old VPN' },
      '203.0.113.0/24',
      '!203.0.112.0/20',
    ]);
    const nobody = await gatehouse.create('/ip_policies', { description: 'Night shift' });
    const backend = await gatehouse.create('/backends/static', { address: '127.0.0.1:9' });
    const edge = await gatehouse.create('/edges/https', { hostports: ['app.example.com:443'], description: 'App' });
    const route = (match: string, more = {}) =>
      gatehouse.create(`/edges/https/${edge.id}/routes`, {
        match,
        match_type: 'path_prefix',
        backend: { backend_id: backend.id },
        ...more,
      });
    const open = await route('/open');
    await route('/office', { ip_restriction: { ip_policy_ids: [office.id] } });
    await route('/night', { ip_restriction: { ip_policy_ids: [nobody.id] } });
    const page = await d().open();
    const item = (text: string) => page.getByRole('listitem').filter({ hasText: text });
    await item('Offices: 1 rule lets nobody in').waitFor();
    await item('Night shift: nobody is let in').waitFor();
    await page
      .getByRole('button', { name: /^Show \d+ more$/ })
      .or(item('Nothing guards one place'))
      .first()
      .waitFor();
    await lookAt(page, 'rule-needs');
    await item('Offices: 1 rule never decides')
      .getByRole('button', { name: /^Put away until tomorrow/ })
      .click();
    await item('Offices: 1 rule never decides').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Show 1 put away until tomorrow' }).waitFor();
    // One more of them is worse.
    await gatehouse.create('/ip_policy_rules', { ip_policy_id: office.id, cidr: '198.51.100.128/25', action: 'allow' });
    await page.reload();
    await item('Offices: 2 rules never decide').waitFor();

    await item('Offices: 2 rules never decide').getByRole('link', { name: 'See the policy' }).click();
    const row = page.getByRole('row').filter({ hasText: '198.51.100.64/26' });
    await row.getByText('allow 198.51.100.0/24 covers it').waitFor();
    await page
      .getByRole('row')
      .filter({ hasText: '203.0.113.0/24' })
      .getByText('deny 203.0.112.0/20 covers it')
      .waitFor();
    await page.getByText('The rule "allow 198.51.100.64/26" of Offices never decides', { exact: false }).waitFor();
    await lookAt(page, 'rule-findings');
    await page.getByRole('link', { name: 'See deny 203.0.112.0/20' }).click();
    await page.getByText('1 of 5 rules').waitFor();

    await lead(page, `/https-edges/${edge.id}`);
    await page.getByText('Nothing guards /open: anybody reaches it.').waitFor();
    await lookAt(page, 'edge-unguarded');
    await gatehouse.put(`/edges/https/${edge.id}/routes/${open.id}/traffic_policy`, {
      value: JSON.stringify({
        on_http_request: [{ expressions: ["req.method == 'PUT'"], actions: [{ type: 'deny' }] }],
      }),
    });
    await page.reload();
    await page.getByText('It is unknown whether something guards /open.').waitFor();
    assert.equal(await page.getByText('Nothing guards').count(), 0);
  });

  test('is not told where it is not known', async () => {
    const { gatehouse } = d();
    const policy = await gatehouse.create('/ip_policies', { description: 'Unknown' });
    const page = await d().open({ path: `/users` });
    await page.route('**/rule_findings*', (route) =>
      route.fulfill({
        status: 429,
        contentType: 'application/json',
        body: '{"error_code":"ERR_GATEHOUSE_20405","status_code":429,"msg":"Calls wait for their turn.","details":{}}',
      }),
    );
    await lead(page, `/ip-policies/${policy.id}`);
    await page.getByText('It is unknown whether all rules decide.').waitFor();
    await lead(page, '/');
    await page.getByText('Rules could not be looked through').waitFor();
    assert.equal(await page.getByText('every rule decides', { exact: false }).count(), 0);
    await d().closePages();
    d().takeFaults();
  });
});
