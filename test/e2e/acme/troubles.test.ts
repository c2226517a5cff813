import assert from 'node:assert/strict';
import { createPrivateKey, createPublicKey } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';

import { Gatehouse } from '../../support/gatehouse.ts';
import { Program } from '../gateway/support/program.ts';
import { newSqlite } from '../../support/scratch.ts';
import { until } from '../gateway/support/until.ts';
import { directory } from './support/names.ts';
import { isInside, runInside } from './support/own-network.ts';
import { askPeer, isServed } from './support/peer.ts';
import { acmeOn, orderMs } from './support/settings.ts';

if (isInside) {
  test('a challenge that fails is told in the words of the authority, with the time of the next attempt', async () => {
    await using gatehouse = await Gatehouse.start(newSqlite(), { ...acmeOn, acmeChallenges: 'http-01' });
    const { id } = await gatehouse.create('/reserved_domains', {
      domain: 'nobody.gatehouse-app.net',
      certificate_management_policy: {},
    });
    const job = async () =>
      (await gatehouse.get(`/reserved_domains/${id}`)).body.certificate_management_status.provisioning_job;
    await until(async () => (await job()).error_code !== null, 'the first attempt has failed', orderMs);
    const { error_code, msg, started_at, retries_at } = await job();
    assert.equal(error_code, 'ERR_GATEHOUSE_20240');
    assert.match(msg, /nobody\.gatehouse-app\.net by http-01: .*could not connect.* port 80/s);
    const waitMs = Date.parse(retries_at) - Date.parse(started_at);
    assert.ok(waitMs >= 59_000, `next attempt after ${waitMs} ms`);
    const failure = 'no certificate: The authority could not check';
    await until(() => gatehouse.logLines.some((line) => line.includes(failure)), 'the failure is logged');
    const { tls_certificates: all } = (await gatehouse.get('/tls_certificates')).body;
    assert.deepEqual(all, []);
  });

  test('after kill -9 in the middle of an order the next process goes on with it, its account and its key', async (t) => {
    const url = newSqlite();
    const name = 'crash.gatehouse-app.net';
    // The authority comes here first, and gets no answer: the order is in its middle.
    const silent = createServer().listen(80, '127.0.0.4');
    t.after(() => silent.close());
    const visited = once(silent, 'connection');
    const settings = { acme: 'on', 'acme-directory': directory, 'acme-challenges': 'http-01' };
    const ports = [4041, 443, 4042] as const;
    const before = await (async () => {
      await using program = await Program.start(url, settings, { host: '0.0.0.0', ports });
      await program.must('POST', '/edges/https', { hostports: [`${name}:443`] });
      await visited;
      program.signal('SIGKILL');
      await program.exited;
      return readState(url);
    })();
    assert.match(before.orderUrl, /^https:/);
    silent.close();
    for (const socket of await visited) socket.destroy();
    const listen = { 'http-listen': '127.0.0.4:80' };
    await using program = await Program.start(url, { ...settings, ...listen }, { host: '0.0.0.0', ports });
    await until(
      () => isServed('127.0.0.4', name),
      () => program.output,
      2 * orderMs,
    );
    const { certificate } = await askPeer('127.0.0.4', name);
    const orderedFor = createPublicKey(createPrivateKey(before.keyPem)).export({ type: 'spki', format: 'der' });
    assert.deepEqual(spkiOf(certificate.raw), orderedFor);
    assert.equal(readState(url).account, before.account);
    assert.equal(readState(url).orders, 1);
  });
} else {
  runInside(import.meta.filename, 2);
}

/** What is stored of the one order; keys are plain text without a secret key. */
function readState(url: string) {
  using database = new DatabaseSync(url.replace('sqlite:', ''), { readOnly: true });
  const accounts = database.prepare('SELECT url, sealed_key FROM acme_accounts').all();
  assert.equal(accounts.length, 1);
  const job = database.prepare('SELECT document, sealed_key FROM acme_jobs').get();
  const { orderUrl } = JSON.parse(String(job?.['document']));
  return {
    account: JSON.stringify(accounts[0]),
    orderUrl: String(orderUrl),
    keyPem: String(job?.['sealed_key']).replace(/^plain:/, ''),
    orders: Number(database.prepare('SELECT count(*) AS count FROM acme_orders').get()?.['count']),
  };
}

function spkiOf(certificate: Buffer): Buffer {
  const pem = `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`;
  return createPublicKey(pem).export({ type: 'spki', format: 'der' });
}
