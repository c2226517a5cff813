import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Page } from 'playwright-core';

import { momentOf, withMoment } from '../../dashboard/src/lib/moment.ts';
import { byWhatIsGuarded } from '../../dashboard/src/pages/moment/guarded.ts';
import { yamlLines } from '../../dashboard/src/lib/yaml-lines.ts';
import type { Gatehouse } from '../support/gatehouse.ts';
import { createUser } from '../support/people.ts';
import { lead, onDashboard, until } from './support/dashboard.ts';
import { lookAt } from './support/looks.ts';

test('a link stays in the moment that is shown, unless it names another one or now', () => {
  const shown = '?at=18196&open=x';
  assert.equal(withMoment('/dashboard/ip-policies', shown), '/dashboard/ip-policies?at=18196');
  assert.equal(withMoment('/dashboard/changes?kind=user', shown), '/dashboard/changes?kind=user&at=18196');
  assert.equal(withMoment('/dashboard/changes?at=7', shown), '/dashboard/changes?at=7');
  assert.equal(withMoment('/dashboard/changes?at=&kind=user', shown), '/dashboard/changes?kind=user');
  assert.equal(withMoment('/dashboard/changes?at=', shown), '/dashboard/changes');
  assert.equal(withMoment('/dashboard/changes?q=a%20b', ''), '/dashboard/changes?q=a%20b');
});

test('a typed moment is a version or a time of UTC, and nothing that no calendar has', () => {
  for (const [typed, read] of [
    ['18,196', '18196'],
    [' 7 ', '7'],
    ['16 Nov 2026, 13:58:00', '2026-11-16T13:58:00Z'],
    ['6 November 2026 13:58 UTC', '2026-11-06T13:58:00Z'],
    ['2026-11-16 13:58', '2026-11-16T13:58:00Z'],
    ['2026-11-16T13:58:09Z', '2026-11-16T13:58:09Z'],
    ['2026-11-16T13:58:09+02:00', '2026-11-16T13:58:09+02:00'],
    ['31 Nov 2026, 13:58', undefined],
    ['30 Foo 2026, 13:58', undefined],
    ['16 Nov 2026, 24:58', undefined],
    ['2026-11-16', undefined],
    ['yesterday', undefined],
    ['', undefined],
  ] as const)
    assert.equal(momentOf(typed), read, typed);
});

test('fields read like YAML, and a text that is anything else there is in quotes', () => {
  const fields = {
    description: 'Back office',
    rules: ['10.0.0.0/8', { cidr: '!x', action: 'deny' }],
    on: 'yes',
    none: [],
    at: null,
  };
  assert.deepEqual(yamlLines(fields), [
    'description: Back office',
    'rules:',
    '  - "10.0.0.0/8"',
    '  - cidr: "!x"',
    '    action: deny',
    '"on": "yes"',
    'none: []',
    'at: null',
  ]);
  assert.deepEqual(yamlLines('a\nb: c'), ['"a\\nb: c"']);
});

test('what differs stands at the place that it guards, also through backends and beside routes with dots in their paths', () => {
  const then = [
    entry('https_edges', 'shop', {
      routes: {
        '/': { backend: { backend: 'pool' } },
        '/v1.2': { ip_restriction: { ip_policies: ['office'] } },
        '/v1.2.3': { ip_restriction: { ip_policies: ['all'] } },
      },
    }),
    entry('weighted_backends', 'pool', { backends: { blue: 90, green: 10 } }),
    entry('failover_backends', 'loop', { backends: ['loop'] }),
    ...['a', 'b', 'c'].map((name) => entry('tcp_edges', name, { ip_restriction: { ip_policies: ['all'] } })),
    entry('ip_restrictions', 'api', { type: 'api', ip_policies: ['staff'] }),
    entry('ip_policies', 'office', { rules: ['10.0.0.0/8'] }),
  ];
  const titles = (kind: string, name: string, fields: readonly string[] = ['description'], after: unknown = 'x') =>
    byWhatIsGuarded(
      [
        {
          action: 'change',
          kind,
          name,
          id: null,
          fields: fields.map((field) => ({ field, before: null, after })),
        },
      ],
      then,
    ).map(({ title, differences }) => `${title}: ${differences.flatMap((each) => each.fields).length}`);
  assert.deepEqual(titles('ip_policies', 'office'), ['shop, route /v1.2: 1']);
  assert.deepEqual(titles('ip_policies', 'staff'), ['api: 1']);
  assert.deepEqual(titles('ip_policies', 'all'), ['a and 3 more: 1']);
  assert.deepEqual(titles('static_backends', 'green'), ['shop, route /: 1']);
  assert.deepEqual(titles('failover_backends', 'loop'), ['Used nowhere: failover backend loop: 1']);
  assert.deepEqual(titles('ip_policies', 'unused'), ['Used nowhere: IP policy unused: 1']);
  const ofRoutes = ['description', 'routes./v1.2.compression', 'routes./v1.2.3.backend.backend', 'routes./new'];
  assert.deepEqual(titles('https_edges', 'shop', ofRoutes), [
    'shop: 1',
    'shop, route /v1.2: 1',
    'shop, route /v1.2.3: 1',
    'shop, route /new: 1',
  ]);
  // A policy that a route names only now is used there.
  const change = { action: 'change', kind: 'https_edges', name: 'shop', id: null } as const;
  const policy = { ...change, action: 'create' as const, kind: 'ip_policies', name: 'fresh', fields: [] };
  const field = { field: 'routes./.ip_restriction', before: null, after: { ip_policies: ['fresh'] } };
  const [both] = byWhatIsGuarded([policy, { ...change, fields: [field] }], then);
  assert.deepEqual([both?.title, both?.differences.length], ['shop, route /', 2]);
});

function entry(kind: string, name: string, fields: Readonly<Record<string, unknown>>) {
  return { id: name, kind, name, fields };
}

/** An edge, its policy and its backend, and what was changed since. Returns the version before those changes. */
async function changeSite(gatehouse: Gatehouse, name: string) {
  const office = await gatehouse.create('/ip_policies', { description: 'Back office' });
  await gatehouse.put(`/ip_policies/${office.id}/rules`, ['127.0.0.0/8', '198.51.100.0/24']);
  const backend = await gatehouse.create('/backends/static', {
    address: '10.20.4.11:8444',
    description: 'admin panel',
  });
  const edge = await gatehouse.create('/edges/https', { hostports: [`${name}.example.com:443`], description: name });
  const route = await gatehouse.create(`/edges/https/${edge.id}/routes`, {
    match: '/',
    match_type: 'path_prefix',
    backend: { backend_id: backend.id },
    ip_restriction: { ip_policy_ids: [office.id] },
  });
  const version: number = (await gatehouse.get('/changes?limit=1')).body.changes[0].version;
  await gatehouse.put(`/ip_policies/${office.id}/rules`, ['127.0.0.0/8', '198.51.100.0/24', '203.0.113.64/26']);
  await gatehouse.put(`/edges/https/${edge.id}/routes/${route.id}/compression`, {});
  const lab = await gatehouse.create('/edges/https', {
    hostports: [`lab-${name}.example.com:443`],
    description: `printer ${name}`,
  });
  return { version, office, edge, lab };
}

onDashboard('an earlier moment in the dashboard', (d) => {
  const bar = (page: Page) => page.getByRole('status').filter({ hasText: 'You look at' });

  test('is compared with now by what is guarded, stays on every page, and is left by "Back to now"', async () => {
    const { gatehouse } = d();
    const { version, office, lab } = await changeSite(gatehouse, 'admin');
    const page = await d().open({ path: `/changes?resource=${office.id}` });
    await page.getByRole('link', { name: 'Back office: 1 rule added, 0 removed' }).click();
    await page.getByRole('link', { name: 'The configuration before this' }).click();
    await bar(page).getByText(`version ${version}`).waitFor();
    await page.getByText('by 1 person, lie between this moment and now', { exact: false }).waitFor();
    const differs = page.getByRole('listitem').filter({ hasText: 'admin, route /' });
    await differs.getByText('1 rule fewer then', { exact: false }).waitFor();
    await differs.getByText('compression', { exact: false }).first().waitFor();
    await differs.getByText('added: - "203.0.113.64/26"').waitFor();
    await page
      .getByRole('listitem')
      .filter({ hasText: 'printer-admin' })
      .getByText('New since', { exact: true })
      .waitFor();
    await lookAt(page, 'moment');
    await page.getByRole('link', { name: 'IP policies' }).click();
    await page.getByRole('link', { name: 'back-office' }).click();
    await page.getByText('Rows 1 to 2 of 2').waitFor();
    assert.equal(await page.getByText('203.0.113.64/26').count(), 0);
    assert.equal(await page.getByRole('button', { name: /Edit|Delete|Add|Create|Paste/ }).count(), 0);
    await lookAt(page, 'moment-policy');
    await page.keyboard.press('g');
    await page.keyboard.press('e');
    await page.getByRole('link', { name: 'admin', exact: true }).waitFor();
    assert.equal(await page.getByText('printer-admin').count(), 0);
    assert.match(page.url(), new RegExp(`https-edges\\?at=${version}`));
    await lookAt(page, 'moment-edges');
    await lead(page, `/https-edges/${lab.id}?at=${version}`);
    await page.getByText('This did not exist then').waitFor();
    for (const path of ['/traffic', '/users', '/who-gets-in', '/api-keys', '/agents']) {
      await lead(page, `${path}?at=${version}`);
      await page.getByRole('heading', { name: /not known for an earlier moment/ }).waitFor();
    }
    assert.equal(await page.locator('.nav .count').count(), 0, 'counts of now are not shown');
    await page.getByRole('link', { name: 'Overview' }).click();
    await page.getByRole('heading', { name: /^Configured at / }).waitFor();
    await lookAt(page, 'moment-overview');
    await page.getByRole('link', { name: 'Back to now' }).click();
    await page.getByText('Needs a person').waitFor();
    assert.equal(await bar(page).count(), 0);
    assert.doesNotMatch(page.url(), /at=/);
  });

  test('is reached by arrow keys change by change, by typing, and compared with another one', async () => {
    const { gatehouse } = d();
    const { version } = await changeSite(gatehouse, 'staff');
    const page = await d().open({ path: `/changes?at=${version}` });
    await bar(page).getByText(`version ${version},`).waitFor();
    const slider = page.getByRole('slider');
    await slider.press('ArrowRight');
    await bar(page)
      .getByText(`version ${version + 1},`)
      .waitFor();
    await slider.press('ArrowLeft');
    await bar(page).getByText(`version ${version},`).waitFor();
    await page.getByRole('button', { name: 'Change before' }).click();
    await bar(page)
      .getByText(`version ${version - 1},`)
      .waitFor();
    await page.getByRole('button', { name: 'Change after' }).click();
    await bar(page).getByText(`version ${version},`).waitFor();
    await page.getByRole('textbox', { name: 'compared with' }).fill(String(version + 1));
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Different from the other moment' }).waitFor();
    await page.getByText('1 thing, by what they guard').waitFor();
    assert.match(page.url(), new RegExp(`with=${version + 1}`));
    const show = page.getByRole('textbox', { name: 'Show' });
    await show.fill('some day');
    await page.keyboard.press('Enter');
    await page.getByText('Type a time of UTC').waitFor();
    await show.fill('2999-01-01 10:00');
    await page.keyboard.press('Enter');
    await bar(page).getByText('nothing has changed since', { exact: false }).waitFor();
    await slider.press('Home');
    const first = await slider.getAttribute('aria-valuemin');
    await until(async () => (await slider.getAttribute('aria-valuenow')) === String(Number(first) + 1));
    await lead(page, '/changes?at=99999999');
    await page.getByRole('heading', { name: 'This moment cannot be shown' }).waitFor();
    await lookAt(page, 'moment-unknown');
  });

  test('is returned to as one change, which is shown before', async () => {
    const { gatehouse } = d();
    const { version, office, lab } = await changeSite(gatehouse, 'depot');
    const page = await d().open({ path: `/changes?at=${version}` });
    await page.getByRole('button', { name: 'Return to this moment…' }).click();
    const dialog = page.getByRole('dialog', { name: /^Return to / });
    await dialog.getByText('One new change sets 2 things back to what they were', { exact: false }).waitFor();
    await dialog.getByText('HTTPS edge printer-depot goes away', { exact: false }).waitFor();
    await dialog.getByText('Nobody is let in who is refused now').waitFor();
    await dialog.getByText('Not set back: keys, users, sessions').waitFor();
    await lookAt(page, 'moment-return');
    // Somebody else is faster: what was not shown does not happen.
    await gatehouse.patch(`/ip_policies/${office.id}`, { description: 'Back office, new' });
    await dialog.getByRole('button', { name: /^Return to / }).click();
    await dialog.getByRole('alert').waitFor();
    assert.equal((await gatehouse.get(`/edges/https/${lab.id}`)).status, 200);
    await dialog.getByRole('button', { name: 'Keep now' }).click();
    await page.getByRole('button', { name: 'Return to this moment…' }).click();
    await dialog.getByText('One new change sets 2 things back', { exact: false }).waitFor();
    await dialog.getByRole('button', { name: /^Return to / }).click();
    await page.getByText(/^Returned to /).waitFor();
    assert.equal(await bar(page).count(), 0);
    assert.equal((await gatehouse.get(`/edges/https/${lab.id}`)).status, 404);
    // It was set back, and not made anew.
    const { rules } = (await gatehouse.get(`/ip_policies/${office.id}/rules`)).body;
    assert.equal(rules.length, 2);
    await d().closePages();
    d().takeFaults();
  });

  test('is for admins', async () => {
    const { token } = await createUser(d().gatehouse, 'member');
    const page = await d().open({ token, path: '/ip-policies?at=1' });
    await page.getByText('Only admins read the configuration of an earlier moment').waitFor();
    assert.equal(await page.getByRole('button', { name: /Return/ }).count(), 0);
  });
});
