import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { openLocalCa } from '../../src/gateway/certificates/local-ca.ts';
import { createWorkerEngine } from '../../src/gateway/workers/worker-engine.ts';
import { basicAuth } from '../../src/modules/basic-auth/index.ts';
import type { CertificateEntry, HttpsEdgeEntry } from '../../src/snapshot/contract.ts';
import type { CertificatePair } from '../../src/snapshot/local-ca.ts';
import { freePort } from '../support/free-port.ts';
import { edgeCertificate } from './support/https-certificate.ts';
import { get, openHttp2, requestHttp2, sendRaw } from './support/https-client.ts';
import type { Connecting, RawAnswer } from './support/https-client.ts';
import { backendEntry, edgeEntry, prefixRoute, toBackend } from './support/https-entries.ts';
import { startGateway } from './support/https-gateway.ts';
import { startUpstream } from './support/https-upstream.ts';
import { plainOptions, Recorder, until } from './support/tcp-engine.ts';
import { change, packRules, snapshot } from './support/tcp-entries.ts';

const limit = 4;
const right = credentials('right');
const wrong = credentials('wrong');
const tooMany = /^ERR_GATEHOUSE_\d+$/;

function credentials(password: string): string {
  return `Basic ${Buffer.from(`ada:${password}`).toString('base64')}`;
}

function endpoint(id: string, host: string): HttpsEdgeEntry {
  const basic_auth = basicAuth.accept({ credentials: [{ username: 'ada', password: 'right' }] });
  return edgeEntry(id, [host], [prefixRoute('/', { ...toBackend('b'), basic_auth })]);
}

function ask(port: number, authorization: string, ...lines: readonly string[]): Promise<RawAnswer> {
  return sendRaw(port, get('/', `Authorization: ${authorization}`, ...lines));
}

async function statusesOf(count: number, send: () => Promise<{ readonly status: number }>) {
  const found: number[] = [];
  while (found.length < count) found.push((await send()).status);
  return found;
}

test('wrong passwords of one source are answered so often, then with 429, and right ones with them', async () => {
  await using upstream = await startUpstream();
  const entries = [backendEntry('b', upstream.port), endpoint('ep_1', 'app.test'), endpoint('ep_2', 'other.test')];
  await using gateway = await startGateway(entries, { passwordFailures: limit });
  assert.deepEqual(await statusesOf(limit + 2, () => ask(gateway.port, wrong)), [401, 401, 401, 401, 429, 429]);
  const refused = await ask(gateway.port, right);
  assert.equal(refused.status, 429);
  assert.match(refused.headers['gatehouse-error-code'] ?? '', tooMany);
  const seconds = Number(refused.headers['retry-after']);
  assert.ok(seconds >= 1 && seconds <= 60, `${seconds}`);
  assert.match(refused.body, new RegExp(`127\\.0\\.0\\.1\\. Wait ${seconds} seconds`));
  assert.equal(upstream.seen.length, 0);
  assert.deepEqual(gateway.passwords, [...Array(limit).fill('checked'), ...Array(3).fill('unchecked')]);

  const elsewhere = { servername: 'other.test' };
  const toOther = get('/', 'Host: other.test', `Authorization: ${right}`);
  assert.equal((await sendRaw(gateway.port, toOther, elsewhere)).status, 200, 'at another endpoint it is let in');
  const away: Connecting = { localAddress: '127.0.0.2' };
  const fromAway = get('/', `Authorization: ${right}`);
  assert.equal((await sendRaw(gateway.port, fromAway, away)).status, 200, 'another source is let in');
});

test('they count together over HTTP/1.1, HTTP/2 and upgrades, and so do all that are no password', async () => {
  await using upstream = await startUpstream();
  const entries = [backendEntry('b', upstream.port), endpoint('ep_1', 'app.test')];
  await using gateway = await startGateway(entries, { passwordFailures: limit });
  const upgrade = `GET / HTTP/1.1\r\nHost: app.test\r\nConnection: Upgrade\r\nUpgrade: echo\r\n`;
  const session = openHttp2(gateway.port);
  const overHttp2 = (authorization: string) => requestHttp2(session, { ':path': '/', authorization });
  assert.equal((await ask(gateway.port, wrong)).status, 401);
  assert.equal((await overHttp2(wrong)).status, 401);
  assert.match((await upgraded(gateway.port, `${upgrade}Authorization: ${wrong}\r\n\r\n`)) ?? '', / 401 /);
  assert.equal((await ask(gateway.port, 'Bearer YQ==')).status, 401);

  assert.equal((await overHttp2(right)).status, 429);
  assert.ok(Number((await overHttp2(right)).headers['retry-after']) >= 1);
  assert.match((await upgraded(gateway.port, `${upgrade}Authorization: ${right}\r\n\r\n`)) ?? '', / 429 /);
  assert.equal((await ask(gateway.port, right)).status, 429);
  session.close();
});

/** The first line of the answer to a request that asks for an upgrade, whose connection stays open. */
async function upgraded(port: number, bytes: string): Promise<string | undefined> {
  const { text } = await sendRaw(port, bytes.replace('Connection: Upgrade', 'Connection: Upgrade, close'));
  return text.split('\r\n', 1)[0];
}

test('requests without a password, and right ones, do not count', async () => {
  await using upstream = await startUpstream();
  const entries = [backendEntry('b', upstream.port), endpoint('ep_1', 'app.test')];
  await using gateway = await startGateway(entries, { passwordFailures: limit });
  assert.deepEqual(
    new Set(await statusesOf(limit * 2, () => sendRaw(gateway.port, get('/')))),
    new Set([401]),
    'as every browser begins',
  );
  assert.deepEqual(new Set(await statusesOf(limit * 2, () => ask(gateway.port, right))), new Set([200]));
  assert.deepEqual(gateway.passwords, []);
});

test('a source is an address, or a /64 of IPv6, as a trusted proxy names it; one that it does not name shuts out nobody', async () => {
  await using upstream = await startUpstream();
  const entries = [backendEntry('b', upstream.port), endpoint('ep_1', 'app.test')];
  await using gateway = await startGateway(entries, { passwordFailures: 2, trustedProxies: ['127.0.0.1/32'] });
  const statusFrom = async (address: string, authorization: string) =>
    (await ask(gateway.port, authorization, `X-Forwarded-For: ${address}`)).status;
  for (const address of ['2001:db8:1:1::1', '2001:db8:1:1:ffff::2'])
    assert.equal(await statusFrom(address, wrong), 401);
  assert.equal(await statusFrom('2001:db8:1:1::3', right), 429);
  assert.equal(await statusFrom('2001:db8:1:2::1', right), 200);
  for (const address of ['192.0.2.7', '::ffff:192.0.2.7']) assert.equal(await statusFrom(address, wrong), 401);
  assert.equal(await statusFrom('192.0.2.7', right), 429);
  assert.equal(await statusFrom('192.0.2.8', right), 200);
  assert.deepEqual(await statusesOf(3, () => ask(gateway.port, wrong)), [401, 401, 429], 'without a name');
  assert.equal((await ask(gateway.port, right)).status, 200);
});

async function startWorkers(t: TestContext, workers: number) {
  const upstream = await startUpstream();
  t.after(() => upstream[Symbol.asyncDispose]());
  let pair: CertificatePair | undefined;
  await openLocalCa({ load: () => Promise.resolve(undefined), save: (made) => Promise.resolve((pair = made)) });
  const seen = new Recorder();
  const port = await freePort();
  const options = { ...plainOptions, https: { host: '127.0.0.1', port }, passwordFailures: limit };
  const trustedProxies = packRules([]);
  const engine = await createWorkerEngine({
    workers: { least: workers, most: workers },
    options: { ...options, trustedProxies },
    localCa: pair,
    observer: seen,
    log: seen.log,
  });
  t.after(() => engine.drain(0));
  const certificate: CertificateEntry = {
    kind: 'certificate',
    id: 'cert_1',
    accountId: 'acc_1',
    names: ['app.test'],
    certificatePem: edgeCertificate.certificate,
    privateKeyPem: edgeCertificate.key,
  };
  await engine.apply(snapshot(certificate, backendEntry('b', upstream.port), endpoint('ep_1', 'app.test')));
  return { engine, seen, port };
}

test('workers count together: what is beyond the limit in one is beyond it in all', async (t) => {
  const { engine, seen, port } = await startWorkers(t, 2);
  for (let count = 1; count <= limit; count++) {
    assert.equal((await ask(port, wrong)).status, 401);
    await until(() => seen.passwords.length === count, 'the parent knows');
    // An update goes to every worker by the same way, behind what was told before.
    await engine.apply(change([]));
  }
  const answers = await Promise.all(Array.from({ length: 24 }, () => ask(port, right)));
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([429]));
  const away: Connecting = { localAddress: '127.0.0.2' };
  const others = await Promise.all(
    Array.from({ length: 8 }, () => sendRaw(port, get('/', `Authorization: ${right}`), away)),
  );
  assert.deepEqual(new Set(others.map(({ status }) => status)), new Set([200]));
});

test('before they have heard of each other, each worker lets through as many as the limit, and no more', async (t) => {
  const { seen, port } = await startWorkers(t, 2);
  const answers = await Promise.all(Array.from({ length: 40 }, () => ask(port, wrong)));
  const checked = answers.filter(({ status }) => status === 401).length;
  assert.ok(checked >= limit && checked <= 2 * limit, `${checked} were checked`);
  assert.equal(answers.filter(({ status }) => status === 429).length, 40 - checked);
  await until(() => seen.passwords.length === 40, 'all are told to the observer');
  assert.equal(seen.passwords.filter((each) => each === 'ep_1 127.0.0.1 checked').length, checked);
});
