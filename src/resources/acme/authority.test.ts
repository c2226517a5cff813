import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { onEachDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { SmallAuthority } from '../../../test/support/small-authority.ts';

const externalAccount = { kid: 'kid-1', hmacKey: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W' };
const domain = { domain: 'bound.gatehouse-app.net', certificate_management_policy: {} };

onEachDatabase('authorities that ask for more', (newDatabase) => {
  test('an account is bound to the one that the operator has, by the key of the settings', async () => {
    using authority = await SmallAuthority.start({ externalAccount });
    const { kid, hmacKey } = externalAccount;
    const settings = { acme: 'on', acmeDirectory: authority.directory, acmeEabKid: kid, acmeEabKey: hmacKey };
    await using gatehouse = await Gatehouse.start(await newDatabase(), settings);
    const { id } = await gatehouse.create('/reserved_domains', domain);
    const read = async () => (await gatehouse.get(`/reserved_domains/${id}`)).body;
    await until(
      async () => (await read()).certificate !== null,
      () => gatehouse.logLines.slice(-5).join(''),
    );
    assert.deepEqual([authority.accounts, authority.issued.length], [1, 1]);
  });

  for (const [what, given, words] of [
    ['without a binding', {}, /no account: Accounts must be bound to yours\. Check .*GATEHOUSE_ACME_EAB_KID/],
    [
      'with a wrong key',
      { acmeEabKid: externalAccount.kid, acmeEabKey: 'AAAA' },
      /no account: The binding is not by the key that we gave you\. Check .*GATEHOUSE_ACME_EAB_KEY/,
    ],
  ] as const) {
    test(`${what} the authority's refusal is told in its words, with the settings to look at`, async () => {
      using authority = await SmallAuthority.start({ externalAccount });
      const settings = { acme: 'on', acmeDirectory: authority.directory, ...given };
      await using gatehouse = await Gatehouse.start(await newDatabase(), settings);
      const { id } = await gatehouse.create('/reserved_domains', domain);
      const job = async () =>
        (await gatehouse.get(`/reserved_domains/${id}`)).body.certificate_management_status.provisioning_job;
      await until(async () => (await job()).error_code !== null, 'the attempt has failed');
      assert.equal((await job()).error_code, 'ERR_GATEHOUSE_20276');
      assert.match((await job()).msg, words);
      assert.equal(authority.accounts, 0);
    });
  }

  test('a certificate is renewed in the window that the authority names', async () => {
    const url = await newDatabase();
    using authority = await SmallAuthority.start({ offersRenewalInfo: true });
    const settings = { acme: 'on', acmeDirectory: authority.directory };
    const open = () => Gatehouse.start(url, settings);
    const read = async (gatehouse: Gatehouse) => (await gatehouse.get('/reserved_domains')).body.reserved_domains[0];
    const renewsAt = async (gatehouse: Gatehouse): Promise<string> =>
      (await read(gatehouse)).certificate_management_status.renews_at;
    let first: string;
    {
      await using gatehouse = await open();
      await gatehouse.create('/reserved_domains', domain);
      await until(async () => (await read(gatehouse)).certificate !== null, 'it has a certificate');
      first = await renewsAt(gatehouse);
    }
    const dayMs = 86_400_000;
    const day = (count: number) => new Date(Date.now() + count * dayMs).toISOString();
    authority.suggestedWindow = { start: day(2), end: day(3) };
    {
      await using gatehouse = await open();
      await until(async () => (await renewsAt(gatehouse)) !== first, 'it follows the window');
      const chosenMs = Date.parse(await renewsAt(gatehouse));
      assert.ok(chosenMs > Date.now() + 1.9 * dayMs && chosenMs < Date.now() + 3.1 * dayMs);
      assert.equal(authority.issued.length, 1);
      await makeAskable(gatehouse);
    }
    const { serialNumber } = new X509Certificate(authority.issued[0] ?? '');
    const [, serial = ''] = authority.asked[0]?.split('.') ?? [];
    assert.equal(BigInt(`0x${Buffer.from(serial, 'base64url').toString('hex')}`), BigInt(`0x${serialNumber}`));
    authority.suggestedWindow = { start: day(-2), end: day(-1) };
    await using last = await open();
    await until(
      async () => authority.issued.length === 2,
      () => `it is renewed: ${last.logLines.slice(-5).join('')}`,
    );
  });
});

/** As if the time had come to ask the authority again. */
async function makeAskable({ app }: Gatehouse): Promise<void> {
  await app.context.store.writeUnlogged(async (writer) => {
    const [row] = await writer.all('SELECT document FROM acme_jobs');
    const { asksAt: _asksAt, ...job } = JSON.parse(String(row?.[0]));
    await writer.run('UPDATE acme_jobs SET document = $1', [JSON.stringify(job)]);
  });
}
