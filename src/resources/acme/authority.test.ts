import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { onAnyDatabase } from '../../../test/support/each-database.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { SmallAuthority } from '../../../test/support/small-authority.ts';
import { ordersUsedUp, shareUsedUp } from '../../acme/errors.ts';
import type { Job } from '../../acme/storage.ts';

const externalAccount = { kid: 'kid-1', hmacKey: 'zWNDZM6eQGHWpSRTPal5eIUYFTu7EajVIoguysqZ9wG44nMEtx3MUAsUDkMTQ12W' };
const domain = { domain: 'bound.gatehouse-app.net', certificate_management_policy: {} };

onAnyDatabase('authorities that ask for more', (newDatabase) => {
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

onAnyDatabase('the bound on orders', (newDatabase) => {
  const managed = (name: string) => ({ domain: `${name}.gatehouse-app.net`, certificate_management_policy: {} });
  const statusOf = async (gatehouse: Gatehouse, id: string, token = gatehouse.token) =>
    (await gatehouse.get(`/reserved_domains/${id}`, { token })).body.certificate_management_status;

  test('is shared by accounts, and new names leave some to renewals', async () => {
    using authority = await SmallAuthority.start();
    // One of four is kept for renewals, and the others are divided between those who want some and one who comes later.
    const settings = { acme: 'on', acmeDirectory: authority.directory, acmeOrdersPerHour: '4' };
    await using gatehouse = await Gatehouse.start(await newDatabase(), settings);
    const { token } = await createUser(gatehouse, 'admin', await createAccount(gatehouse));
    const greedy: string[] = [];
    for (const name of ['b1', 'b2', 'b3', 'b4'])
      greedy.push((await gatehouse.create('/reserved_domains', managed(name), { token })).id);
    const errorOf = async (at: number) =>
      (await statusOf(gatehouse, greedy[at] ?? '', token)).provisioning_job?.error_code;
    await until(async () => (await errorOf(3)) === `ERR_GATEHOUSE_${shareUsedUp.code}`, 'the others wait');
    assert.deepEqual(authority.ordered, ['b1.gatehouse-app.net', 'b2.gatehouse-app.net']);

    const { id } = await gatehouse.create('/reserved_domains', managed('a1'));
    await until(async () => (await statusOf(gatehouse, id)).renews_at !== null, 'another account gets one');
    const next = await gatehouse.create('/reserved_domains', managed('a2'));
    const told = async () => (await statusOf(gatehouse, next.id)).provisioning_job?.error_code;
    await until(async () => (await told()) === `ERR_GATEHOUSE_${ordersUsedUp.code}`, 'new names have no more');

    await changeJob(gatehouse, 'a1.gatehouse-app.net', (job) => ({ ...job, renewsAt: '2020-01-01T00:00:00Z' }));
    await until(async () => authority.ordered.length === 4, 'the renewal has');
    assert.deepEqual(authority.ordered.slice(2), ['a1.gatehouse-app.net', 'a1.gatehouse-app.net']);
    const lines = gatehouse.logLines.filter((line) => line.includes('GATEHOUSE_ACME_ORDERS_PER_HOUR'));
    assert.equal(lines.length, 2, 'one for each account');
  });

  test('holds for the order that follows one which has become invalid', async () => {
    using authority = await SmallAuthority.start();
    authority.refusedNames.add('refused.gatehouse-app.net');
    const settings = { acme: 'on', acmeDirectory: authority.directory, acmeOrdersPerHour: '1' };
    await using gatehouse = await Gatehouse.start(await newDatabase(), settings);
    const { id } = await gatehouse.create('/reserved_domains', managed('refused'));
    const told = async () => (await statusOf(gatehouse, id)).provisioning_job.error_code;
    await until(async () => (await told()) === 'ERR_GATEHOUSE_20241', 'it is refused');
    await changeJob(gatehouse, 'refused.gatehouse-app.net', ({ retriesAt: _retriesAt, ...job }) => job);
    await until(async () => (await told()) === `ERR_GATEHOUSE_${ordersUsedUp.code}`, 'the next one waits');
    assert.equal(authority.ordered.length, 1);
  });
});

/** As if the time had come to ask the authority again. */
async function makeAskable(gatehouse: Gatehouse): Promise<void> {
  await changeJob(gatehouse, domain.domain, ({ asksAt: _asksAt, ...job }) => job);
}

async function changeJob({ app }: Gatehouse, hostname: string, change: (job: Job) => Job): Promise<void> {
  await app.context.store.writeUnlogged(async (writer) => {
    const [row] = await writer.all('SELECT document FROM acme_jobs WHERE hostname = $1', [hostname]);
    const changed = JSON.stringify(change(JSON.parse(String(row?.[0]))));
    await writer.run('UPDATE acme_jobs SET document = $1 WHERE hostname = $2', [changed, hostname]);
  });
}
