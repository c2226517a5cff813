import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createUser } from '../support/people.ts';
import { onDashboard } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';
import { visit } from './support/visit.ts';

onDashboard('the page of visitors, and the form of the sign-in', (d) => {
  const seen = async (email: string, groups: readonly string[], userAgent?: string) => {
    const { gatehouse } = d();
    await visit(gatehouse, (await gatehouse.create('/edges/https')).id, email, groups, userAgent);
  };

  test('sessions are seen and ended, one by one and all of somebody', async () => {
    await seen('mirela@kestrel.example', ['ops', 'staff']);
    await seen('jan@kestrel.example', [], 'Mozilla/5.0 (X11; Linux x86_64; rv:131.0) Gecko/20100101 Firefox/131.0');
    await seen('jan@kestrel.example', [], 'Mozilla/5.0 (Linux; Android 14) Chrome/130.0 Mobile Safari/537.36');
    const { token } = await createUser(d().gatehouse, 'viewer');
    const viewer = await d().open({ token, path: '/visitors' });
    await viewer.getByText('mirela@kestrel.example', { exact: true }).waitFor();
    await viewer.getByText('a viewer only reads').waitFor();
    assert.equal(await viewer.getByRole('button', { name: /^End / }).count(), 0, 'no button that would be refused');
    await viewer.getByRole('link', { name: /^People/ }).click();
    await viewer.getByText('mirela@kestrel.example', { exact: true }).waitFor();
    assert.equal(await viewer.getByRole('button', { name: /^End / }).count(), 0);
    const page = await d().open({ path: '/visitors' });
    await page.getByText('mirela@kestrel.example', { exact: true }).waitFor();
    await page.getByText('ops, staff').waitFor();
    for (const browser of ['Firefox on Linux', 'Chrome on Android'])
      await page.getByRole('row', { name: 'jan@kestrel.example' }).filter({ hasText: browser }).waitFor();
    await lookAt(page, 'visitor-sessions');
    await page.getByRole('button', { name: 'End the session of mirela@kestrel.example' }).click();
    await page.getByText('Ended the session of mirela@kestrel.example.').waitFor();
    const { application_sessions: left } = (await d().gatehouse.get('/app/sessions')).body;
    assert.deepEqual(
      left.map(({ email }: { readonly email: string }) => email),
      ['jan@kestrel.example', 'jan@kestrel.example'],
    );
    await page.getByRole('link', { name: /^People/ }).click();
    await page.getByRole('button', { name: 'End all sessions of jan@kestrel.example' }).click();
    await page.getByText('Ended all sessions of jan@kestrel.example.').waitFor();
    assert.deepEqual((await d().gatehouse.get('/app/sessions')).body.application_sessions, []);
  });

  test('a route asks for a login: the form says who may enter and how the network counts', async () => {
    const { gatehouse } = d();
    const policy = await gatehouse.create('/ip_policies', { description: 'Offices' });
    const edge = await gatehouse.create('/edges/https', { hostports: ['admin.kestrel.example:443'] });
    const route = await gatehouse.create(`/edges/https/${edge.id}/routes`, { match: '/', match_type: 'path_prefix' });
    const routePath = `/edges/https/${edge.id}/routes/${route.id}`;
    const page = await d().open({ path: `/https-edges/${edge.id}?route=${route.id}` });
    await page.getByRole('button', { name: 'Set up Sign-in', exact: true }).click();
    const form = page.getByRole('form', { name: 'Sign-in', exact: true });
    await form.getByText(/^https:\/\/admin\.kestrel\.example[:\d]*\/\.gatehouse\/sign-in\/callback$/).waitFor();
    await form.getByLabel('Provider (issuer)').fill('http://id.kestrel.example');
    await form.getByLabel('Client id').fill('gatehouse-admin');
    await form.getByLabel('Client secret').fill('a secret');
    await form.getByRole('button', { name: 'Add group' }).click();
    await form.getByLabel('Group', { exact: true }).fill('ops');
    await form.getByRole('button', { name: 'Add domain' }).click();
    await form.getByLabel('Domain', { exact: true }).fill('@kestrel.example');
    await lookAt(page, 'sign-in-module');
    await form.getByText('Everybody of @kestrel.example may enter: the groups do not narrow it.').waitFor();
    await form.getByRole('button', { name: 'Save sign-in' }).click();
    await form.getByText(/it must begin with https/).waitFor();
    await form.getByLabel('Provider (issuer)').fill('https://id.kestrel.example/realms/staff');
    await form.getByLabel('Network and login').selectOption('or_login');
    await form.getByText('Visitors whom the IP policies allow need no login.').waitFor();
    await form.getByLabel('Network and login').selectOption('any');
    await form.getByRole('button', { name: 'Save sign-in' }).click();
    await page.getByRole('switch', { name: 'Sign-in', exact: true, checked: true }).waitFor();
    const { oidc } = (await gatehouse.get(routePath)).body;
    assert.deepEqual([oidc.groups, oidc.email_domains, oidc.network], [['ops'], ['kestrel.example'], 'any']);
    // Switched off and on it keeps its secret.
    await page.getByRole('switch', { name: 'Sign-in', exact: true, checked: true }).click();
    await page.getByRole('switch', { name: 'Sign-in', exact: true, checked: false }).click();
    await page.getByRole('switch', { name: 'Sign-in', exact: true, checked: true }).waitFor();
    await page.getByRole('button', { name: 'Set up Sign-in with a well-known provider' }).click();
    const named = page.getByRole('form', { name: 'Sign-in with a well-known provider' });
    await named.getByLabel('Client id').fill('c');
    await named.getByLabel('Client secret').fill('s');
    await named.getByRole('button', { name: 'Add organization' }).click();
    await named.getByLabel('Organization', { exact: true }).fill('kestrel');
    await named.getByRole('button', { name: /^Save/ }).click();
    await page.getByRole('switch', { name: 'Sign-in with a well-known provider', checked: true }).waitFor();
    const { oauth } = (await gatehouse.get(routePath)).body;
    assert.deepEqual(oauth.provider.github.organizations, ['kestrel']);
    // The policy of its network is not offered for deletion.
    const { provider: _provider, ip_policies: _policies, ...kept } = oauth;
    const network = { ...kept, network: 'or_login', ip_policy_ids: [policy.id] };
    const { status, text } = await gatehouse.put(`${routePath}/oauth`, {
      ...network,
      provider: { github: { client_id: 'c', client_secret: 's' } },
    });
    assert.equal(status, 200, text);
    await page.goto(`/dashboard/ip-policies/${policy.id}`);
    await page.getByRole('button', { name: 'Delete the policy' }).click();
    await page.getByRole('dialog').getByText('sign-in of a route').waitFor();
    assert.ok(await page.getByRole('button', { name: 'Still used by 1' }).isDisabled());
  });
});
