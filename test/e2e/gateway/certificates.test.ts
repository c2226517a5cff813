import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { promisify } from 'node:util';

import { makePair } from '../../support/certificate-pair.ts';
import type { CertificatePair } from '../../support/certificate-pair.ts';
import { Gatehouse } from '../../support/gatehouse.ts';
import { createAccount, createUser } from '../../support/people.ts';
import { newSqlite, scratchFolder } from '../../support/scratch.ts';
import { Site, siteHost } from './support/site.ts';
import { askHttps } from './support/traffic.ts';

const run = promisify(execFile);
let site: Site;
let ca: string;
before(async () => {
  site = await Site.start({ drainSeconds: '0' });
  ca = await (await fetch(new URL('/local_ca.pem', site.gatehouse.url))).text();
});
after(() => site[Symbol.asyncDispose]());

function pairFor(...names: readonly string[]): CertificatePair {
  const altNames = names.map((name) => `DNS:${name}`).join(',');
  return makePair(
    `pair-${(pairs += 1)}`,
    '-subj',
    '/CN=uploaded',
    '-addext',
    `subjectAltName=${altNames}`,
    '-days',
    '5',
  );
}
let pairs = 0;

/** Returns `local` if the listener serves a certificate of the local CA for the name, else its fingerprint. */
async function servedFor(host: string): Promise<string | undefined> {
  const { certificate } = await askHttps(site.httpsPort, host);
  return certificate?.verify(new X509Certificate(ca).publicKey) === true ? 'local' : certificate?.fingerprint256;
}

function fingerprint({ certificate_pem }: CertificatePair): string {
  return new X509Certificate(certificate_pem).fingerprint256;
}

test('curl trusts the authority that is offered for download, over HTTP/1.1 and HTTP/2, and no other', async () => {
  const file = join(scratchFolder(), 'ca.pem');
  await writeFile(file, ca);
  const url = `https://${siteHost}:${site.httpsPort}/`;
  const way = [
    '--connect-to',
    `::127.0.0.1:${site.httpsPort}`,
    '-sS',
    '-w',
    '%{http_version} %{http_code}',
    '-o',
    '/dev/null',
  ];
  for (const version of ['1.1', '2'] as const) {
    const { stdout } = await run('curl', [...way, `--http${version}`, '--cacert', file, url]);
    assert.equal(stdout, `${version} 200`);
  }
  await assert.rejects(run('curl', [...way, url]), /SSL certificate problem/);
});

test('an uploaded certificate is served from the answer to its upload to that of its deletion', async () => {
  assert.equal(await servedFor(siteHost), 'local');
  const pair = pairFor(siteHost);
  const { id } = await site.gatehouse.create('/tls_certificates', pair);
  assert.equal(await servedFor(siteHost), fingerprint(pair));
  const newer = pairFor(siteHost);
  const { id: newerId } = await site.gatehouse.create('/tls_certificates', newer);
  await site.gatehouse.delete(`/tls_certificates/${id}`);
  assert.equal(await servedFor(siteHost), fingerprint(newer));
  await site.gatehouse.delete(`/tls_certificates/${newerId}`);
  assert.equal(await servedFor(siteHost), 'local');
});

test('a certificate of another account is never served, not for a name, not under a wildcard', async () => {
  const { token } = await createUser(site.gatehouse, 'admin', await createAccount(site.gatehouse));
  const pair = pairFor(siteHost, '*.site.test');
  const { id } = await site.gatehouse.create('/tls_certificates', pair, { token });
  assert.equal(await servedFor(siteHost), 'local');

  const edge = await site.gatehouse.create('/edges/https', { hostports: ['mine.elsewhere.test:443'] }, { token });
  const own = pairFor('mine.elsewhere.test');
  await site.gatehouse.create('/tls_certificates', own);
  assert.equal(await servedFor('mine.elsewhere.test'), 'local', 'nor the other way round');
  await site.gatehouse.delete(`/edges/https/${edge.id}`, { token });
  await site.gatehouse.delete(`/tls_certificates/${id}`, { token });
});

test('a name that no edge has is answered with a certificate for it and a page of the gateway, until an edge has it', async () => {
  const { token } = await createUser(site.gatehouse, 'admin', await createAccount(site.gatehouse));
  const pair = pairFor('*.unserved.test');
  const { id } = await site.gatehouse.create('/tls_certificates', pair, { token });
  const { certificate, status, headers } = await askHttps(site.httpsPort, 'a.unserved.test');
  assert.equal(certificate?.fingerprint256, fingerprint(pair));
  assert.deepEqual([status, headers?.['gatehouse-error-code']], [404, 'ERR_GATEHOUSE_3200']);
  const edge = await site.gatehouse.create('/edges/https', { hostports: ['a.unserved.test:443'] });
  assert.equal(await servedFor('a.unserved.test'), 'local', 'the edge is of another account');
  await site.gatehouse.delete(`/edges/https/${edge.id}`);
  await site.gatehouse.delete(`/tls_certificates/${id}`, { token });
});

test('a name that moves to another account takes no certificate along', async () => {
  const { token } = await createUser(site.gatehouse, 'admin', await createAccount(site.gatehouse));
  const pair = pairFor('moving.test');
  await site.gatehouse.create('/tls_certificates', pair);
  const edge = await site.gatehouse.create('/edges/https', { hostports: ['moving.test:443'] });
  assert.equal(await servedFor('moving.test'), fingerprint(pair));
  const taken = await site.gatehouse.post('/edges/https', { hostports: ['moving.test:443'] }, { token });
  assert.equal(taken.status, 409);
  await site.gatehouse.delete(`/edges/https/${edge.id}`);
  await site.gatehouse.create('/edges/https', { hostports: ['moving.test:443'] }, { token });
  assert.equal(await servedFor('moving.test'), 'local');
});

test('a wildcard edge serves one local certificate for all its names, and an uploaded one for the name it is for', async () => {
  await site.gatehouse.create('/edges/https', { hostports: ['*.wild.test:443'] });
  const [one, other] = [
    await askHttps(site.httpsPort, 'one.wild.test'),
    await askHttps(site.httpsPort, 'other.wild.test'),
  ];
  assert.equal(one.certificate?.fingerprint256, other.certificate?.fingerprint256);
  assert.equal(one.certificate?.subjectAltName, 'DNS:*.wild.test');
  const pair = pairFor('one.wild.test');
  await site.gatehouse.create('/tls_certificates', pair);
  assert.equal(await servedFor('one.wild.test'), fingerprint(pair));
  assert.equal(await servedFor('other.wild.test'), 'local');
  await assert.rejects(askHttps(site.httpsPort, 'two.levels.wild.test'), 'a wildcard stands for one label');
  await assert.rejects(askHttps(site.httpsPort, 'wild.test'), 'and for one at least');
});

test('with --secret-key no private key can be read in the database, and after a restart it still works', async () => {
  const databaseUrl = newSqlite();
  const settings = { httpsListen: '127.0.0.1:0', drainSeconds: '0', secretKey: 'k'.repeat(32) };
  const pair = pairFor('sealed.test');
  {
    await using gatehouse = await Gatehouse.start(databaseUrl, settings);
    await gatehouse.create('/edges/https', { hostports: ['sealed.test:443'] });
    await gatehouse.create('/tls_certificates', pair);
  }
  const file = databaseUrl.replace('sqlite:', '');
  const bytes = (await readFile(file)).toString('latin1');
  assert.ok(bytes.includes(pair.certificate_pem.split('\n')[1] ?? '-'), 'the certificate itself can be found');
  assert.doesNotMatch(bytes, /PRIVATE KEY/);
  for (const line of pair.private_key_pem.split('\n').slice(1, -2)) assert.ok(!bytes.includes(line));

  await using again = await Gatehouse.start(databaseUrl, settings);
  const { certificate } = await askHttps(again.httpsPort, 'sealed.test');
  assert.equal(certificate?.fingerprint256, fingerprint(pair));
  await assert.rejects(
    Gatehouse.start(databaseUrl, { ...settings, secretKey: 'x'.repeat(32) }),
    /cannot be (used|opened)|key/,
  );
});
