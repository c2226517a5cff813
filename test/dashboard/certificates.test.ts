import assert from 'node:assert/strict';
import { test } from 'node:test';

import { makePair } from '../support/certificate-pair.ts';
import { lead, onDashboard } from './support/dashboard.ts';

const days = (count: number) => ['-days', String(count)];
const named = (...names: readonly string[]) => [
  '-subj',
  '/CN=made for a test',
  '-addext',
  `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`,
];

onDashboard('the pages of certificates and reserved names', (d) => {
  const g = () => d().gatehouse;

  test('a certificate is uploaded from files, says what it is for and when it ends, and is shown by its edge', async () => {
    const edge = await g().create('/edges/https', { hostports: ['shop.cert.test:443'], description: 'Shop' });
    const pair = makePair('shop', ...named('shop.cert.test', '*.other.test'), ...days(9));
    const other = makePair('stranger', ...named('stranger.test'), ...days(9));
    const page = await d().open({ path: `/https-edges/${edge.id}` });
    await page.getByText('Shows a certificate of Gatehouse’s own authority').waitFor();
    await page.getByRole('link', { name: 'Upload a certificate' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('Give the certificate to go on').waitFor();
    const choose = (label: string, text: string) =>
      dialog
        .getByLabel(label, { exact: true })
        .setInputFiles({ name: 'file.pem', mimeType: 'text/plain', buffer: Buffer.from(text) });
    await choose('Certificate from a file', pair.certificate_pem);
    await choose('Private key from a file', other.private_key_pem);
    await dialog.getByRole('button', { name: 'Upload certificate' }).click();
    await dialog.getByText('The private key does not belong to the certificate').waitFor();
    await choose('Private key from a file', pair.private_key_pem);
    await dialog.getByRole('button', { name: 'Upload certificate' }).click();

    await page.getByRole('heading', { name: 'shop.cert.test and 1 more' }).waitFor();
    await page
      .getByText('Ends 24 Nov', { exact: false })
      .or(page.getByText(/^Ends /))
      .first()
      .waitFor();
    await page.getByText('*.other.test', { exact: true }).waitFor();
    await page.getByRole('link', { name: 'Shop' }).waitFor();
    const { body } = await g().get('/tls_certificates');
    assert.equal(body.tls_certificates.length, 1);
    assert.ok(!(await page.content()).includes('PRIVATE KEY'), 'the private key is still on the page');

    await page.getByRole('button', { name: 'Delete…' }).click();
    await dialog.getByText('shop.cert.test:443').waitFor();
    await dialog.getByLabel(/^Type/).fill('shop.cert.test and 1 more');
    await dialog.getByRole('button', { name: 'Delete certificate' }).click();
    await page.getByText('Deleted the certificate').waitFor();
    assert.deepEqual((await g().get('/tls_certificates')).body.tls_certificates, []);
  });

  test('of two certificates for a name, the edge’s page names the one that the gateway shows', async () => {
    const edge = await g().create('/edges/https', { hostports: ['api.two.test:443'] });
    await g().create('/tls_certificates', {
      ...makePair('two-wild', ...named('*.two.test'), ...days(300)),
      description: 'the wildcard',
    });
    await g().create('/tls_certificates', {
      ...makePair('two-exact', ...named('api.two.test'), ...days(30)),
      description: 'the exact one',
    });
    const page = await d().open({ path: `/https-edges/${edge.id}` });
    await page.getByRole('link', { name: 'the exact one' }).waitFor();
    assert.equal(await page.getByRole('link', { name: 'the wildcard' }).count(), 0);
  });

  test('a domain is reserved, with the server’s word about one that is taken', async () => {
    const page = await d().open({ path: '/reserved-names' });
    const dialog = page.getByRole('dialog');
    const reserve = async (domain: string): Promise<void> => {
      await page.getByRole('button', { name: 'Reserve a domain' }).click();
      await dialog.getByLabel('Domain', { exact: true }).fill(domain);
      await dialog.getByRole('button', { name: 'Reserve domain' }).click();
    };
    await reserve('kestrel.test');
    await page.getByRole('heading', { name: 'kestrel.test' }).waitFor();
    await lead(page, '/reserved-names');
    await reserve('kestrel.test');
    await dialog.getByText(/The domain .*kestrel.test.* is reserved already/).waitFor();
    await dialog.getByRole('button', { name: 'Cancel' }).click();

    await page.getByRole('link', { name: 'kestrel.test' }).click();
    await page.getByRole('button', { name: 'Give back…' }).click();
    await dialog.getByText('Another account can take the name from now on.').waitFor();
    await dialog.getByRole('button', { name: 'Give back the domain' }).click();
    await page.getByText('Gave back kestrel.test.').waitFor();
    assert.deepEqual((await g().get('/reserved_domains')).body.reserved_domains, []);
  });

  test('a domain asks for a certificate, which is then held, and gives it up again', async () => {
    const pair = makePair('held', ...named('held.test'), ...days(90));
    const certificate = await g().create('/tls_certificates', { ...pair, description: 'held one' });
    const domain = await g().create('/reserved_domains', { domain: 'held.test' });
    const page = await d().open({ path: `/reserved-names/${domain.id}?edit=1` });
    await page.getByLabel('Certificate').selectOption({ label: 'held one' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('link', { name: 'held one' }).first().waitFor();
    assert.equal((await g().get(`/reserved_domains/${domain.id}`)).body.certificate.id, certificate.id);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Certificate').selectOption({ label: 'Whichever fits best' });
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByText('No certificate').waitFor();
    assert.equal((await g().get(`/reserved_domains/${domain.id}`)).body.certificate, null);
  });

  test('a TCP address is reserved: the port is given', async () => {
    const page = await d().open({ path: '/reserved-names?kind=addresses' });
    await page.getByRole('button', { name: 'Reserve an address' }).click();
    await page.getByRole('dialog').getByLabel('Description').fill('for the label printer');
    await page.getByRole('dialog').getByRole('button', { name: 'Reserve address' }).click();
    await page.getByText('for the label printer').waitFor();
    const [addr] = (await g().get('/reserved_addrs')).body.reserved_addrs;
    await page.getByRole('heading', { name: addr.addr }).waitFor();
  });
});
