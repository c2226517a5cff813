import assert from 'node:assert/strict';
import { test } from 'node:test';

import { acmeStorage } from '../../src/resources/acme/service.ts';
import { makePair } from '../support/certificate-pair.ts';
import { onDashboard, until } from './support/dashboard.ts';
import { faultsOf } from './support/looks.ts';

/** Nothing listens there, so that every order fails at once. */
const acmeDirectory = 'http://127.0.0.1:9/directory';
const publicPath = '/certificates?kind=public';

onDashboard(
  'the page of public certificates',
  (d) => {
    const g = () => d().gatehouse;
    const hasFailed = (id: string) =>
      until(async () => {
        const { body } = await g().get(`/reserved_domains/${id}`);
        return (body.certificate_management_status.provisioning_job?.error_code ?? null) !== null;
      });

    test('says what it is for while there is none', async () => {
      const page = await d().open({ path: '/certificates' });
      await page.getByRole('link', { name: /^Public authority/ }).click();
      await page.getByText('No certificate of a public authority').waitFor();
      assert.match(page.url(), /kind=public$/);
      await page.getByRole('link', { name: 'Go to reserved names' }).click();
      await page.getByRole('heading', { name: 'Reserved names' }).waitFor();
    });

    test('a domain is given to the authority, and taken back', async () => {
      const page = await d().open({ path: '/reserved-names?create=1' });
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Domain', { exact: true }).fill('only-here.test');
      await dialog.getByLabel('Certificate').selectOption({ label: 'One of the public authority, renewed by itself' });
      await dialog.getByRole('button', { name: 'Reserve domain' }).click();
      await dialog.getByText('No certificate can be obtained for only-here.test').waitFor();
      await dialog.getByLabel('Domain', { exact: true }).fill('given.gatehouse-app.net');
      await dialog.getByRole('button', { name: 'Reserve domain' }).click();
      await page.getByText('Public certificate', { exact: true }).waitFor();
      const policyOf = async () => {
        const { body } = await g().get('/reserved_domains');
        return body.reserved_domains[0].certificate_management_policy;
      };
      assert.deepEqual(await policyOf(), { authority: 'letsencrypt', private_key_type: 'ecdsa' });
      await page.getByRole('button', { name: 'Edit' }).click();
      await page.getByLabel('Certificate').selectOption({ label: 'Whichever fits best' });
      await page.getByRole('button', { name: /^Save/ }).click();
      // The form hides it before it is saved.
      await until(async () => (await policyOf()) === null);
      await page.getByText('Public certificate', { exact: true }).waitFor({ state: 'detached' });
    });

    test('shows a name that failed in the words of the authority, with the next attempt', async () => {
      const { id } = await g().create('/reserved_domains', {
        domain: 'fails.gatehouse-app.net',
        certificate_management_policy: {},
      });
      await hasFailed(id);
      const page = await d().open({ path: publicPath });
      const row = page.getByRole('row', { name: /fails\.gatehouse-app\.net/ });
      const state = row.getByRole('cell').nth(1);
      await state.getByText('Not issued').waitFor();
      await state.getByText(`${acmeDirectory} cannot be reached`).waitFor();
      await state.getByText('ERR_GATEHOUSE_20243').waitFor();
      await state.getByText(/tried again (in|now)/).waitFor();
      await row.getByRole('cell').nth(2).getByText('No certificate yet').waitFor();
      await row.getByRole('link', { name: 'fails.gatehouse-app.net' }).click();
      await page.getByRole('heading', { name: 'fails.gatehouse-app.net' }).waitFor();
      await page.getByText(`${acmeDirectory} cannot be reached`).waitFor();
    });

    test('shows what was issued, when it ends and when it is renewed; and uploaded ones are not among them', async () => {
      const names = ['-addext', 'subjectAltName=DNS:issued.gatehouse-app.net', '-days', '60'];
      const pair = makePair('issued', '-subj', '/CN=made for a test', ...names);
      await g().create('/tls_certificates', { ...pair, description: 'By hand' });
      const domain = 'issued.gatehouse-app.net';
      const { id } = await g().create('/reserved_domains', { domain, certificate_management_policy: {} });
      await hasFailed(id);
      const { services, store } = g().app.context;
      // The manager's own lease, because nobody else may write.
      const [lease] = await store.queries.all('SELECT holder FROM acme_lease');
      const [owner] = await store.queries.all('SELECT account_id FROM reserved_domains WHERE id = $1', [id]);
      const job = { accountId: String(owner?.[0]), hostname: domain, keyType: 'ecdsa', failures: 0 } as const;
      await services.get(acmeStorage).install(String(lease?.[0]), job, {
        certificatePem: pair.certificate_pem,
        privateKeyPem: pair.private_key_pem,
        renewsAt: new Date(Date.now() + 40 * 86_400_000).toISOString(),
      });
      assert.notEqual((await g().get(`/reserved_domains/${id}`)).body.certificate, null);

      const page = await d().open({ path: publicPath });
      const row = page.getByRole('row', { name: /issued\.gatehouse-app\.net/ });
      await row.getByRole('cell').nth(1).getByText('Issued', { exact: true }).waitFor();
      const cells = await row.getByRole('cell').allTextContents();
      assert.match(cells[2] ?? '', /^\d+ \w+ \d{4}$/);
      assert.match(cells[3] ?? '', /^\d+ \w+ \d{4}$/);
      const listed = await page.locator('[data-row-link]').allTextContents();
      assert.equal(listed.filter((name) => name === domain).length, 1, 'the uploaded one is listed too');
      await page.getByRole('link', { name: 'All', exact: true }).click();
      await page.getByRole('row', { name: /By hand.*Uploaded/ }).waitFor();
      await page.getByRole('row', { name: /issued\.gatehouse-app\.net.*Public authority/ }).waitFor();
      assert.deepEqual(await faultsOf(page, [['public-certificates', publicPath]]), []);
    });
  },
  { acme: 'on', acmeDirectory },
);
