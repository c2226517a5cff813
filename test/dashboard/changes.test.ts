import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createUser, runOnHost } from '../support/people.ts';
import { lead, onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';
import { restrict } from './support/restrictions.ts';

onDashboard('the change log', (d) => {
  test('tells who did what, and shows before and after beside the list', async () => {
    const { gatehouse } = d();
    const { id } = await restrict(gatehouse, { type: 'endpoints', description: 'Abuse feed', allow: ['0.0.0.0/0'] });
    await gatehouse.patch(`/ip_restrictions/${id}`, { enforced: true });
    await runOnHost(gatehouse, 'restrictions disable', { id });
    const page = await d().open({ path: '/changes' });
    await page.getByRole('link', { name: 'Abuse feed is no longer enforced' }).waitFor();
    await page.getByRole('link', { name: 'Abuse feed created' }).waitFor();
    await page.getByRole('link', { name: 'Abuse feed is now enforced' }).click();
    const sheet = page.getByRole('complementary', { name: 'Abuse feed is now enforced' });
    await sheet.getByText('"enforced": true').waitFor();
    await sheet.getByText('"enforced": false').waitFor();
    await sheet.getByText('admin', { exact: true }).waitFor();
    await sheet.getByText('127.0.0.1', { exact: true }).waitFor();
    await sheet.getByText('the key first key of this installation').waitFor();
    assert.match(page.url(), /open=chg_/);
    await page.reload();
    await sheet.getByText('"enforced": true').waitFor();
    await lookAt(page, 'changes');
    await page.setViewportSize({ width: 1280, height: 900 });
    await sheet.getByRole('button', { name: 'All fields' }).click();
    await sheet.getByText('"type": "endpoints"').waitFor();
    await page.keyboard.press('Escape');
    await sheet.waitFor({ state: 'detached' });
    await lookAt(page, 'changes-list');
  });

  test('names the edge of a route, its module and the policy of a rule; a call, a session and the host are told apart', async () => {
    const { gatehouse } = d();
    const policy = await gatehouse.create('/ip_policies', { description: 'Offices' });
    await gatehouse.create('/ip_policy_rules', { ip_policy_id: policy.id, cidr: '192.0.2.0/24', action: 'allow' });
    const edge = await gatehouse.create('/edges/https', { description: 'Shop' });
    const route = await gatehouse.create(`/edges/https/${edge.id}/routes`, { match: '/', match_type: 'path_prefix' });
    const module = `/edges/https/${edge.id}/routes/${route.id}/compression`;
    await gatehouse.put(module, {});
    await gatehouse.put(module, { enabled: false });
    await gatehouse.create('/ip_restrictions', { type: 'endpoints', ip_policy_ids: [policy.id] });
    const page = await d().open({ path: '/bot-users?create=1' });
    await page.getByLabel('Name').fill('by hand');
    await page.getByRole('button', { name: 'Create bot' }).last().click();
    await page.getByRole('heading', { name: 'by hand' }).waitFor();
    await lead(page, '/changes');
    for (const title of [
      'Offices: 192.0.2.0/24 allow created',
      'Shop / created',
      'Shop /: compression set up',
      'Shop /: compression switched off',
      /^Endpoints restriction …\w{4} created$/,
    ]) {
      await page.getByRole('link', { name: title }).waitFor();
    }
    await page.getByRole('link', { name: 'by hand created' }).click();
    await page.getByText('a dashboard session, begun with the key first key of this installation').waitFor();
  });

  test('somebody who accepts an invitation is one row, and its parts are there when they are looked for', async () => {
    const { gatehouse } = d();
    const { link } = await gatehouse.create('/invitations', { name: 'Marta', role: 'viewer' });
    await gatehouse.post('/invitations/accept', { link });
    const page = await d().open({ path: '/changes' });
    await page.getByRole('link', { name: 'Marta accepted the invitation' }).waitFor();
    assert.equal(
      await page.getByRole('link', { name: /Marta is no longer|first key, from the invitation/ }).count(),
      0,
    );
    await page.getByRole('link', { name: 'Marta accepted the invitation' }).click();
    await page.getByRole('complementary', { name: 'Marta accepted the invitation' }).waitFor();
    await page.getByLabel('Kind').selectOption('invitation');
    await page.getByRole('link', { name: 'Marta is no longer invited' }).waitFor();
  });

  test('a change is reverted after its effect was shown, or the reason why not', async () => {
    const { gatehouse } = d();
    const policy = await gatehouse.create('/ip_policies', { description: 'Night shift' });
    await gatehouse.patch(`/ip_policies/${policy.id}`, { description: 'Nobody' });
    const page = await d().open({ path: `/changes?resource=${policy.id}` });
    await page.getByRole('link', { name: /^Nobody/ }).click();
    await page.getByRole('button', { name: 'Revert…' }).click();
    const dialog = page.getByRole('dialog', { name: /^Revert “Nobody/ });
    await dialog.getByText('Sets back: IP policy Night shift').waitFor();
    await dialog.getByText('"description": "Night shift"').waitFor();
    await lookAt(page, 'revert');
    await dialog.getByRole('button', { name: 'Revert', exact: true }).click();
    await page.getByText(/^Reverted: Nobody/).waitFor();
    assert.equal((await gatehouse.get(`/ip_policies/${policy.id}`)).body.description, 'Night shift');
    await page.getByRole('button', { name: 'Revert…' }).click();
    await dialog.getByText(/description of the IP policy \w+ has changed since/).waitFor();
    assert.ok(await dialog.getByRole('button', { name: 'Revert', exact: true }).isDisabled());
    await lookAt(page, 'revert-refused');
    await d().closePages();
    d().takeFaults();
  });

  test('rules that were replaced by mistake are shown, and are back', async () => {
    const { gatehouse } = d();
    const policy = await gatehouse.create('/ip_policies', { description: 'Partners' });
    const path = `/ip_policies/${policy.id}/rules`;
    await gatehouse.put(path, ['192.0.2.0/24', '198.51.100.0/24']);
    const before = (await gatehouse.get(path)).body.rules;
    await gatehouse.put(path, ['203.0.113.0/24']);
    const page = await d().open({ path: `/changes?resource=${policy.id}` });
    await page.getByRole('link', { name: 'Partners: 1 rule added, 2 removed' }).click();
    await page.getByRole('button', { name: 'Revert…' }).click();
    const dialog = page.getByRole('dialog', { name: /^Revert “/ });
    await dialog.getByText('removed: allow 203.0.113.0/24').waitFor();
    await dialog.getByText('added: allow 192.0.2.0/24').waitFor();
    await dialog.getByRole('button', { name: 'Revert', exact: true }).click();
    await page.getByText(/^Reverted: Partners/).waitFor();
    assert.deepEqual((await gatehouse.get(path)).body.rules, before);
  });

  test('the revert of a long list says what goes, shows a part of it, and keeps its buttons in sight', async () => {
    const { gatehouse } = d();
    const policy = await gatehouse.create('/ip_policies', { description: 'Block list' });
    const rules = Array.from({ length: 300 }, (_, at) =>
      at % 3 === 0
        ? { cidr: `198.18.${at >> 8}.${at & 255}/32`, action: 'deny', description: `ticket ${at}` }
        : `!198.18.${at >> 8}.${at & 255}/32`,
    );
    await gatehouse.put(`/ip_policies/${policy.id}/rules`, rules);
    const page = await d().open({ path: `/changes?resource=${policy.id}` });
    await page.getByRole('link', { name: 'Block list: 300 rules added, 0 removed' }).click();
    await page.getByRole('button', { name: 'Revert…' }).click();
    const dialog = page.getByRole('dialog', { name: /^Revert “/ });
    await dialog.getByText('Sets back: IP policy Block list').waitFor();
    await dialog.getByText('300 rules go, none comes back: 300 rules now, 0 afterwards.').waitFor();
    await dialog.getByText('removed: deny 198.18.0.0/32 · ticket 0').waitFor();
    assert.equal(await dialog.locator('.diff > div').count(), 20);
    await dialog.getByRole('button', { name: 'Show 200 of 280 more' }).click();
    await dialog.getByRole('button', { name: 'Show 80 of 80 more' }).waitFor();
    assert.equal(await dialog.locator('.diff > div').count(), 220);
    const [box, foot] = [
      await dialog.locator('.dialog').boundingBox(),
      await dialog.locator('.dialog > footer').last().boundingBox(),
    ];
    const height = page.viewportSize()?.height ?? 0;
    const panel = `document.querySelector('dialog .panel')`;
    const isWhole = await page.evaluate(`${panel}.scrollHeight <= ${panel}.clientHeight + 1`);
    assert.ok(isWhole, 'the list scrolls with the body, and its head is not cut off');
    assert.ok(box !== null && foot !== null && box.y >= 0 && box.y + box.height <= height, JSON.stringify(box));
    assert.ok(Math.abs(box.y + box.height - foot.y - foot.height) < 2, 'nothing stands below its foot');
    await lookAt(page, 'revert-long');
    await d().closePages();
  });

  test('has its filters in the URL', async () => {
    const { gatehouse } = d();
    const bot = await gatehouse.create('/bot_users', { name: 'terraform' });
    const { token } = await gatehouse.create('/api_keys', { owner_id: bot.id });
    await gatehouse.create(
      '/backends/static',
      {
        address: '10.20.4.12:8080',
        description: 'booking-green',
      },
      { token },
    );
    const page = await d().open({ path: '/changes' });
    await page.getByLabel('Who').selectOption(bot.id);
    await page.getByRole('link', { name: 'booking-green created' }).waitFor();
    await page.getByRole('link', { name: 'terraform created' }).waitFor({ state: 'detached' });
    assert.match(page.url(), new RegExp(`who=${bot.id}`));
    await page.getByLabel('Action').selectOption('delete');
    await page.getByText('No change fits the filter').waitFor();
    await page.getByRole('button', { name: 'Clear the filter' }).click();
    await page.getByRole('link', { name: 'terraform created' }).waitFor();
    await page.goto('/dashboard/changes?kind=bot_user');
    await page.getByRole('link', { name: 'terraform created' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'booking-green created' }).count(), 0);
  });

  test('is for admins', async () => {
    const { token } = await createUser(d().gatehouse, 'member');
    const page = await d().open({ token, path: '/changes' });
    await page.getByText('Only admins read the change log').waitFor();
  });
});
