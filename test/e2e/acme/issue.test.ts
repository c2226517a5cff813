import assert from 'node:assert/strict';
import { once } from 'node:events';
import { test } from 'node:test';
import { connect } from 'node:tls';

import { Gatehouse } from '../../support/gatehouse.ts';
import { createDatabase, startPostgres } from '../../support/postgres.ts';
import { newSqlite } from '../../support/scratch.ts';
import { until } from '../gateway/support/until.ts';
import { isInside, runInside } from './support/own-network.ts';
import { askPeer, isServed } from './support/peer.ts';
import { acmeOn, orderMs } from './support/settings.ts';

if (isInside) {
  for (const [kind, name] of [
    ['http-01', 'http.gatehouse-app.net'],
    ['tls-alpn-01', 'alpn.gatehouse-app.net'],
  ] as const) {
    test(`an edge gets a trusted certificate over ${kind}, and serves it without a restart`, async () => {
      await using gatehouse = await Gatehouse.start(newSqlite(), { ...acmeOn, acmeChallenges: kind });
      await gatehouse.create('/edges/https', { hostports: [`${name}:443`] });
      assert.equal((await askPeer('127.0.0.2', name)).isTrusted, false, 'the local authority serves meanwhile');
      await until(
        () => isServed('127.0.0.2', name),
        () => `a trusted certificate is served: ${gatehouse.logLines.slice(-5).join('')}`,
        orderMs,
      );
      const { tls_certificates: all } = (await gatehouse.get('/tls_certificates')).body;
      assert.equal(all.length, 1);
      assert.deepEqual(all[0].subject_alternative_names.dns_names, [name]);
      assert.equal(all[0].issued_at, all[0].created_at);
    });
  }

  test('a challenge is answered by a gateway, and its workers, that did not begin it', async () => {
    await using server = await startPostgres();
    const url = await createDatabase(server.url);
    const name = 'other.gatehouse-app.net';
    const listen = { httpsListen: '127.0.0.3:443', httpListen: '127.0.0.3:80' };
    await using ordering = await Gatehouse.start(url, acmeOn);
    await using answering = await Gatehouse.start(url, { ...listen, role: 'gateway', workers: '2' });
    await ordering.create('/edges/https', { hostports: [`${name}:443`] });
    await until(
      async () => (await isServed('127.0.0.3', name)) && isServed('127.0.0.2', name),
      () => `both serve it: ${ordering.logLines.slice(-5).join('')}${answering.logLines.slice(-5).join('')}`,
      orderMs,
    );
  });

  test('a policy of a reserved domain gets a certificate with its kind of key, and says when it is renewed', async () => {
    await using gatehouse = await Gatehouse.start(newSqlite(), acmeOn);
    const name = 'policy.gatehouse-app.net';
    const made = await gatehouse.create('/reserved_domains', {
      domain: name,
      certificate_management_policy: { private_key_type: 'rsa' },
    });
    assert.equal(made.certificate_management_status.provisioning_job.error_code, null);
    const read = async () => (await gatehouse.get(`/reserved_domains/${made.id}`)).body;
    await until(async () => (await read()).certificate !== null, 'it has a certificate', orderMs);
    const { certificate, certificate_management_policy: policy, certificate_management_status: status } = await read();
    assert.deepEqual(policy, { authority: 'letsencrypt', private_key_type: 'rsa' });
    assert.equal(status.provisioning_job, null);
    const { body } = await gatehouse.get(`/tls_certificates/${certificate.id}`);
    assert.equal(body.private_key_type, 'rsa');
    const share =
      (Date.parse(status.renews_at) - Date.parse(body.not_before)) /
      (Date.parse(body.not_after) - Date.parse(body.not_before));
    assert.ok(share > 0.6 && share < 0.67, `renewed after ${share} of its time`);
    assert.equal((await gatehouse.delete(`/reserved_domains/${made.id}/certificate_management_policy`)).status, 204);
    assert.equal((await read()).certificate_management_status, null);
    assert.equal((await read()).certificate.id, certificate.id);
  });

  test('a certificate that is due is renewed; the old one is gone, and open connections stay', async () => {
    await using gatehouse = await Gatehouse.start(newSqlite(), acmeOn);
    const name = 'renewed.gatehouse-app.net';
    await gatehouse.create('/edges/https', { hostports: [`${name}:443`] });
    await until(() => isServed('127.0.0.2', name), 'the first is served', orderMs);
    const first = (await askPeer('127.0.0.2', name)).certificate.serialNumber;
    const open = connect({ host: '127.0.0.2', port: 443, servername: name });
    await once(open, 'secureConnect');
    await gatehouse.app.context.store.writeUnlogged(async (writer) => {
      const [row] = await writer.all('SELECT document FROM acme_jobs WHERE hostname = $1', [name]);
      const due = JSON.stringify({ ...JSON.parse(String(row?.[0])), renewsAt: '2020-01-01T00:00:00Z' });
      await writer.run('UPDATE acme_jobs SET document = $1 WHERE hostname = $2', [due, name]);
    });
    const serial = async () => (await askPeer('127.0.0.2', name)).certificate.serialNumber;
    await until(async () => (await serial()) !== first, 'the next is served', orderMs);
    const { tls_certificates: all } = (await gatehouse.get('/tls_certificates')).body;
    assert.equal(all.length, 1);
    open.write(`GET / HTTP/1.1\r\nHost: ${name}\r\n\r\n`);
    const [answer] = await once(open, 'data');
    assert.match(String(answer), /^HTTP\/1\.1 404 /);
    open.destroy();
  });
} else {
  runInside(import.meta.filename, 5);
}
