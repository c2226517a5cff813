import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client } from 'acme-client';

import { acmeStorage } from '../../../src/resources/acme/service.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { newSqlite } from '../../support/scratch.ts';
import { until } from '../gateway/support/until.ts';
import { wipeAuthority } from './support/authority.ts';
import { directory } from './support/names.ts';
import { isInside, runInside } from './support/own-network.ts';
import { isServed } from './support/peer.ts';
import { acmeOn, orderMs } from './support/settings.ts';

const replacedLine = 'the authority did not accept its account any more; a new one was made';

async function accountOf({ app }: Gatehouse) {
  const account = await app.context.services.get(acmeStorage).loadAccount(directory);
  assert.ok(account?.url !== undefined);
  return { ...account, url: account.url };
}

async function deactivate(gatehouse: Gatehouse): Promise<void> {
  const { keyPem, url } = await accountOf(gatehouse);
  const client = new Client({ directoryUrl: directory, accountKey: keyPem, accountUrl: url });
  const { status } = await client.updateAccount({ status: 'deactivated' });
  assert.equal(status, 'deactivated');
}

async function getServed(gatehouse: Gatehouse, name: string): Promise<void> {
  await gatehouse.create('/edges/https', { hostports: [`${name}:443`] });
  await until(
    () => isServed('127.0.0.2', name),
    () => gatehouse.logLines.slice(-5).join(''),
    orderMs,
  );
}

if (isInside) {
  for (const [what, lose] of [
    ['was deactivated', deactivate],
    ['the authority does not know any more', wipeAuthority],
  ] as const) {
    test(`an account that ${what} is replaced once, and the order goes on; not twice within a day`, async () => {
      await using gatehouse = await Gatehouse.start(newSqlite(), acmeOn);
      await getServed(gatehouse, 'http.gatehouse-app.net');
      const first = await accountOf(gatehouse);
      assert.equal(first.replacedAt, undefined);
      await lose(gatehouse);
      await getServed(gatehouse, 'alpn.gatehouse-app.net');
      const second = await accountOf(gatehouse);
      assert.notEqual(second.keyPem, first.keyPem);
      assert.ok(second.replacedAt !== undefined);
      const told = () => gatehouse.logLines.filter((line) => line.includes(replacedLine)).length;
      assert.equal(told(), 1);

      await lose(gatehouse);
      const { id } = await gatehouse.create('/reserved_domains', {
        domain: 'policy.gatehouse-app.net',
        certificate_management_policy: {},
      });
      const job = async () =>
        (await gatehouse.get(`/reserved_domains/${id}`)).body.certificate_management_status.provisioning_job;
      await until(async () => (await job()).error_code !== null, 'the attempt has failed', orderMs);
      const { error_code, msg, retries_at } = await job();
      assert.equal(error_code, 'ERR_GATEHOUSE_20275');
      assert.match(msg, /does not accept the account of this installation: .* has already made a new account at 20/);
      assert.ok(retries_at !== null);
      assert.deepEqual(await accountOf(gatehouse), second);
      assert.equal(told(), 1);
    });
  }
} else {
  runInside(import.meta.filename, 2);
}
