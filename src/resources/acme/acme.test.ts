import assert from 'node:assert/strict';
import { test } from 'node:test';

import { until } from '../../../test/e2e/gateway/support/until.ts';
import { onDatabasesInTurn } from '../../../test/support/each-database.ts';
import { makeExpired, makePair } from '../../../test/support/certificate-pair.ts';
import { Gatehouse } from '../../../test/support/gatehouse.ts';
import type { Answer } from '../../../test/support/gatehouse.ts';
import { LeaseLostError } from '../../acme/storage.ts';
import type { Job } from '../../acme/storage.ts';
import { toTimestamp } from '../../lib/ids.ts';
import { managedDomains } from '../reserved-domains/service.ts';
import { acmeStorage } from './service.ts';

const job: Job = { accountId: 'ac_1', hostname: 'a.gatehouse-app.net', keyType: 'ecdsa', failures: 0 };
const secretKey = 'a secret key of thirty-two characters or more'.replaceAll(' ', '-');

onDatabasesInTurn('orders of public certificates', (newDatabase) => {
  test('one process at a time has the lease, and nobody else writes', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase());
    const storage = gatehouse.app.context.services.get(acmeStorage);
    assert.equal(await storage.takeLease('one', 60_000), 'taken');
    assert.equal(await storage.takeLease('one', 60_000), 'renewed');
    assert.equal(await storage.takeLease('two', 60_000), undefined);
    await storage.saveJob('one', job, 'key');
    await assert.rejects(storage.saveJob('two', job), LeaseLostError);
    await assert.rejects(storage.withdraw('two', undefined), LeaseLostError);
    await assert.rejects(storage.saveAccount('two', 'https://ca', { keyPem: 'k' }), LeaseLostError);
    await storage.releaseLease('two');
    assert.equal(await storage.takeLease('two', 0), undefined);
    await storage.releaseLease('one');
    assert.equal(await storage.takeLease('two', 0), 'taken');
    assert.equal(await storage.takeLease('one', 60_000), 'taken', 'a lease that has ended is free');
    await assert.rejects(storage.saveJob('two', job), LeaseLostError);
  });

  test('a job keeps its key until another is given, and keys are stored sealed', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase(), { secretKey });
    const { services, store } = gatehouse.app.context;
    const storage = services.get(acmeStorage);
    await storage.takeLease('one', 60_000);
    await storage.saveJob('one', job, 'the first key');
    await storage.saveJob('one', { ...job, failures: 1 });
    assert.equal(await storage.loadKey(job), 'the first key');
    assert.deepEqual(await storage.loadJobs(), [{ ...job, failures: 1 }]);
    await storage.saveAccount('one', 'https://ca', { keyPem: 'the key of the account' });
    assert.deepEqual(await storage.loadAccount('https://ca'), { keyPem: 'the key of the account' });
    const rows = [
      ...(await store.queries.all('SELECT sealed_key FROM acme_jobs')),
      ...(await store.queries.all('SELECT sealed_key FROM acme_accounts')),
    ];
    assert.deepEqual(
      rows.map(([sealed]) => String(sealed).slice(0, 5)),
      ['gcm1:', 'gcm1:'],
    );
  });

  test('orders are noted with their account and kind, and read from a time on', async () => {
    await using gatehouse = await Gatehouse.start(await newDatabase());
    const storage = gatehouse.app.context.services.get(acmeStorage);
    await storage.takeLease('one', 60_000);
    const nowMs = Date.parse('2026-11-15T12:00:00Z');
    for (const [at, ago] of [7_200_000, 1_800_000, 0].entries())
      await storage.noteOrder('one', { accountId: `ac_${at}`, isRenewal: at === 1 }, nowMs - ago);
    const orders = await storage.loadOrders(nowMs - 3_600_000);
    assert.deepEqual(
      new Set(orders.map(({ accountId, isRenewal }) => `${accountId} ${isRenewal}`)),
      new Set(['ac_1 true', 'ac_2 false']),
    );
  });

  test('an authority that cannot be reached is told in the status, and asked again later', async () => {
    const acmeDirectory = 'http://127.0.0.1:9/directory';
    await using gatehouse = await Gatehouse.start(await newDatabase(), { acme: 'on', acmeDirectory });
    const { id } = await gatehouse.create('/reserved_domains', {
      domain: 'a.gatehouse-app.net',
      certificate_management_policy: {},
    });
    const read = async () => (await gatehouse.get(`/reserved_domains/${id}`)).body.certificate_management_status;
    await until(async () => (await read()).provisioning_job.error_code !== null, 'the attempt has failed');
    const { renews_at, provisioning_job } = await read();
    assert.equal(renews_at, null);
    assert.equal(provisioning_job.error_code, 'ERR_GATEHOUSE_20243');
    assert.match(provisioning_job.msg, /http:\/\/127\.0\.0\.1:9\/directory cannot be reached: /);
    assert.ok(provisioning_job.retries_at > provisioning_job.started_at);
  });

  test('answers about a name without a certificate warn with the words of the fault, until one covers it', async () => {
    const acmeDirectory = 'http://127.0.0.1:9/directory';
    await using gatehouse = await Gatehouse.start(await newDatabase(), { acme: 'on', acmeDirectory });
    const name = 'w.gatehouse-app.net';
    const { id } = await gatehouse.create('/edges/https', { hostports: ['plain.test:443', `${name}:443`] });
    const path = `/edges/https/${id}`;
    const warningOf = async (answer: Promise<Answer>) => (await answer).headers.get('gatehouse-warning');
    await until(async () => (await warningOf(gatehouse.get(path))) !== null, 'the attempt has failed');
    const expected =
      /^w\.gatehouse-app\.net has no certificate: The authority at .* cannot be reached: .* Next attempt: 20\S+Z\.$/;
    assert.match((await warningOf(gatehouse.get(path))) ?? '', expected);
    assert.match((await warningOf(gatehouse.patch(path, { id, description: 'x' }))) ?? '', expected);
    assert.match((await warningOf(gatehouse.post('/reserved_domains', { domain: name }))) ?? '', expected);
    assert.equal(await warningOf(gatehouse.get('/edges/https')), null);
    const other = await gatehouse.create('/edges/https', { hostports: ['other.test:443'] });
    assert.equal(await warningOf(gatehouse.get(`/edges/https/${other.id}`)), null);
    await gatehouse.create('/tls_certificates', makePair('warned', '-subj', `/CN=${name}`, '-days', '300'));
    assert.equal(await warningOf(gatehouse.get(path)), null);
  });

  test('words of an authority that no header can hold are sent without those characters', async () => {
    const settings = { acme: 'on', acmeDirectory: 'http://127.0.0.1:9/directory' };
    await using gatehouse = await Gatehouse.start(await newDatabase(), settings);
    const { id } = await gatehouse.create('/reserved_domains', { domain: 'v.gatehouse-app.net' });
    const read = async () => (await gatehouse.get(`/reserved_domains/${id}`)).headers.get('gatehouse-warning');
    await until(async () => (await read()) !== null, 'the attempt has failed');
    await gatehouse.app.context.store.writeUnlogged(async (writer) => {
      const [row] = await writer.all('SELECT document FROM acme_jobs');
      const told = {
        ...JSON.parse(String(row?.[0])),
        error: { code: 1, message: 'non\u2028e\r\nX-Evil: 1 \u{1f512}.' },
      };
      await writer.run('UPDATE acme_jobs SET document = $1', [JSON.stringify(told)]);
    });
    assert.match((await read()) ?? '', /^v\.gatehouse-app\.net has no certificate: non e X-Evil: 1 {1,2}\. Next/);
  });

  test('an expired certificate whose name is gone is deleted with its keys; one that is used or valid is not', async () => {
    const url = await newDatabase();
    const [gone, edge, named, valid] = ['gone', 'edge', 'named', 'valid'].map(
      (label) => `${label}.gatehouse-app.net`,
    ) as [string, string, string, string];
    const names = [gone, edge, named, valid];
    const ids = new Map<string, string>();
    {
      await using first = await Gatehouse.start(url);
      const { store, services } = first.app.context;
      const [row] = await store.queries.all('SELECT id FROM accounts');
      const accountId = String(row?.[0]);
      const storage = services.get(acmeStorage);
      await storage.takeLease('one', 60_000);
      for (const hostname of names) {
        const good = makePair('left', '-subj', `/CN=${hostname}`, '-days', '300');
        const pair = hostname === valid ? good : makeExpired('left', good);
        const issued = { certificatePem: pair.certificate_pem, privateKeyPem: pair.private_key_pem };
        const own = { ...job, accountId, hostname };
        await storage.saveJob('one', own, 'the key of an order');
        const renewsAt = '2026-01-01T00:00:00Z';
        ids.set(hostname, await storage.install('one', own, { ...issued, renewsAt }));
      }
      await storage.releaseLease('one');
      await first.create('/edges/https', { hostports: [`${edge}:443`] });
      await store.writeUnlogged(async (writer) => {
        const sql = 'INSERT INTO tls_certificates_uses (used_id, user_id) VALUES ($1, $2)';
        await writer.run(sql, [ids.get(named) ?? '', 'rd_1']);
      });
    }
    const settings = { acme: 'on', acmeDirectory: 'http://127.0.0.1:9/directory' };
    const stored = async ({ app }: Gatehouse) => {
      const { queries } = app.context.store;
      const certificates = await queries.all('SELECT id FROM tls_certificates');
      const jobs = await queries.all('SELECT hostname FROM acme_jobs');
      return [...certificates, ...jobs].map(([text]) => String(text)).toSorted();
    };
    const all = [...names, ...ids.values()].toSorted();
    await using second = await Gatehouse.start(url, { ...settings, acmeKeepDays: '0' });
    await until(async () => (await stored(second)).length < all.length, 'one is deleted');
    assert.deepEqual(
      await stored(second),
      all.filter((text) => text !== gone && text !== ids.get(gone)),
    );
    // The line comes after the commit that was waited for.
    const line = () => second.logLines.find((each) => each.includes('its expired certificate was deleted'));
    await until(() => line() !== undefined, 'the deletion is logged');
    assert.equal(JSON.parse(line() ?? '').name, gone);
  });

  test('beyond the bound on orders a name waits, and its status says for what', async () => {
    const acmeDirectory = 'http://127.0.0.1:9/directory';
    const settings = { acme: 'on', acmeDirectory, acmeOrdersPerHour: '1' };
    await using gatehouse = await Gatehouse.start(await newDatabase(), settings);
    // An order of another process, in the table that all of them count in.
    await gatehouse.app.context.store.writeUnlogged(async (writer) => {
      const sql = 'INSERT INTO acme_orders (id, started_at) VALUES ($1, $2)';
      await writer.run(sql, ['one', toTimestamp(Date.now())]);
    });
    const { id } = await gatehouse.create('/reserved_domains', {
      domain: 'c.gatehouse-app.net',
      certificate_management_policy: {},
    });
    const status = async () =>
      (await gatehouse.get(`/reserved_domains/${id}`)).body.certificate_management_status.provisioning_job;
    await until(async () => (await status()).error_code !== null, 'the bound is told');
    assert.equal((await status()).error_code, 'ERR_GATEHOUSE_20244');
    assert.match((await status()).msg, /GATEHOUSE_ACME_ORDERS_PER_HOUR/);
  });

  test('a policy and a certificate replace each other, and a policy that cannot be fulfilled is refused', async () => {
    const acmeDirectory = 'http://127.0.0.1:9/directory';
    await using gatehouse = await Gatehouse.start(await newDatabase(), { acme: 'on', acmeDirectory });
    const path = '/reserved_domains';
    const policy = { authority: 'letsencrypt', private_key_type: 'ecdsa' };
    const refuses = async (body: object, code: number) => {
      const answer = await gatehouse.post(path, body);
      assert.deepEqual([answer.status, answer.body.error_code], [400, `ERR_GATEHOUSE_${code}`], answer.text);
    };
    await refuses({ domain: 'a.test', certificate_management_policy: policy }, 20249);
    await refuses({ domain: '*.gatehouse-app.net', certificate_management_policy: policy }, 20249);
    await refuses(
      { domain: 'b.gatehouse-app.net', certificate_id: 'cert_x', certificate_management_policy: policy },
      20248,
    );
    const bad = await gatehouse.post(path, {
      domain: 'b.gatehouse-app.net',
      certificate_management_policy: { authority: 'other' },
    });
    assert.equal(bad.status, 400);
    const { id } = await gatehouse.create(path, { domain: 'b.gatehouse-app.net' });
    const given = await gatehouse.patch(`${path}/${id}`, { certificate_management_policy: {} });
    assert.deepEqual(given.body.certificate_management_policy, policy);
    const kept = await gatehouse.patch(`${path}/${id}`, { description: 'kept' });
    assert.deepEqual(kept.body.certificate_management_policy, policy);
    assert.equal((await gatehouse.delete(`${path}/${id}/certificate_management_policy`)).status, 204);
    assert.equal((await gatehouse.delete(`${path}/${id}/certificate_management_policy`)).status, 204);
    assert.equal((await gatehouse.get(`${path}/${id}`)).body.certificate_management_policy, null);
  });

  test('Terraform repeats the certificate that a domain has when it writes the policy', async () => {
    const acmeDirectory = 'http://127.0.0.1:9/directory';
    await using gatehouse = await Gatehouse.start(await newDatabase(), { acme: 'on', acmeDirectory });
    const domain = 'r.gatehouse-app.net';
    const upload = () =>
      gatehouse.create(
        '/tls_certificates',
        makePair('r', '-subj', `/CN=${domain}`, '-addext', `subjectAltName=DNS:${domain}`),
      );
    const [own, other] = [await upload(), await upload()];
    const { id } = await gatehouse.create('/reserved_domains', { domain, certificate_id: own.id });
    const change = (certificate_id: string) =>
      gatehouse.patch(`/reserved_domains/${id}`, { certificate_id, certificate_management_policy: {} });
    const contradiction = await change(other.id);
    assert.deepEqual([contradiction.status, contradiction.body.error_code], [400, 'ERR_GATEHOUSE_20248']);
    const { status, body, text } = await change(own.id);
    assert.equal(status, 200, text);
    assert.equal(body.certificate_management_policy.authority, 'letsencrypt');
    assert.equal(body.certificate, null);
    // A certificate that the authority has issued stays.
    const { store, services } = gatehouse.app.context;
    const [accountId = ''] = (await store.queries.all('SELECT account_id FROM reserved_domains'))[0] ?? [];
    await store.write({ id: 'host', accountId: String(accountId), operationId: '' }, (transaction) =>
      services.get(managedDomains).attach(transaction, String(accountId), domain, own.id),
    );
    const written = [
      await change(own.id),
      await change(''),
      await gatehouse.patch(`/reserved_domains/${id}`, { certificate_id: '' }),
    ];
    for (const { status: answered, body: shown } of written)
      assert.deepEqual(
        [answered, shown.certificate?.id, shown.certificate_management_policy?.authority],
        [200, own.id, 'letsencrypt'],
      );
  });
});
