import assert from 'node:assert/strict';
import { test } from 'node:test';

import { dueJobs } from './plan.ts';
import type { KnownCertificate, WantedName } from './plan.ts';
import type { Job } from './storage.ts';

const nowMs = Date.parse('2026-11-15T12:00:00Z');
const dayMs = 86_400_000;
const name = 'shop.gatehouse-app.net';

const wanted = (hostname: string, more: Partial<WantedName> = {}): WantedName => ({
  accountId: 'ac_1',
  hostname,
  keyType: 'ecdsa',
  isManaged: false,
  ...more,
});
const certificate = (more: Partial<KnownCertificate> = {}): KnownCertificate => ({
  id: 'cert_1',
  accountId: 'ac_1',
  names: [name],
  notBeforeMs: nowMs - 30 * dayMs,
  notAfterMs: nowMs + 60 * dayMs,
  ...more,
});
const job = (more: Partial<Job> = {}): Job => ({
  accountId: 'ac_1',
  hostname: name,
  keyType: 'ecdsa',
  failures: 0,
  ...more,
});

async function due(
  names: readonly WantedName[],
  certificates: readonly KnownCertificate[] = [],
  jobs: readonly Job[] = [],
  hasDns = false,
): Promise<readonly string[]> {
  const found = await dueJobs({ wanted: names, certificates, jobs, nowMs, hasDns });
  return found.map(({ job: { hostname } }) => hostname);
}

test('a name without a certificate is due, and one that a valid certificate of its account covers is not', async () => {
  assert.deepEqual(await due([wanted(name)]), [name]);
  assert.deepEqual(await due([wanted(name)], [certificate()]), []);
  assert.deepEqual(await due([wanted(name)], [certificate({ names: ['*.gatehouse-app.net'] })]), []);
  assert.deepEqual(await due([wanted(name)], [certificate({ accountId: 'ac_2' })]), [name]);
  assert.deepEqual(await due([wanted(name)], [certificate({ notAfterMs: nowMs })]), [name], 'expired');
  assert.deepEqual(await due([wanted(name)], [certificate({ notBeforeMs: nowMs + 1 })]), [name], 'not yet valid');
});

test('names that cannot be public are never asked for, and wildcards only with DNS', async () => {
  const hidden = [
    'localhost',
    'a.localhost',
    'printer.local',
    'a.test',
    'a.internal',
    'shop',
    '192.0.2.1',
    'a.example.com',
  ];
  assert.deepEqual(await due(hidden.map((each) => wanted(each))), []);
  assert.deepEqual(await due([wanted('*.gatehouse-app.net')]), []);
  assert.deepEqual(await due([wanted('*.gatehouse-app.net')], [], [], true), ['*.gatehouse-app.net']);
});

test('a name below a wildcard that is asked for is left to it', async () => {
  const names = [wanted(name), wanted('*.gatehouse-app.net')];
  assert.deepEqual(await due(names, [], [], true), ['*.gatehouse-app.net']);
  assert.deepEqual(await due(names, [], [], false), [name]);
});

test('a certificate of the authority is renewed at its time, and not while one that was uploaded outlives it', async () => {
  const own = certificate();
  const issued = job({ certificateId: own.id, renewsAt: '2026-11-15T11:59:59Z' });
  assert.deepEqual(await due([wanted(name)], [own], [issued]), [name]);
  assert.deepEqual(await due([wanted(name)], [own], [{ ...issued, renewsAt: '2026-11-15T12:00:01Z' }]), []);
  const uploaded = certificate({ id: 'cert_2', notAfterMs: own.notAfterMs + 1 });
  assert.deepEqual(await due([wanted(name)], [own, uploaded], [issued]), []);
  assert.deepEqual(await due([wanted(name, { isManaged: true })], [own, uploaded], [issued]), [name]);
});

test('a policy asks for a certificate beside one that was uploaded, and for another when its kind of key changes', async () => {
  const uploaded = certificate({ id: 'cert_2' });
  assert.deepEqual(await due([wanted(name, { isManaged: true })], [uploaded]), [name]);
  const issued = job({ certificateId: 'cert_1', renewsAt: '2026-12-15T12:00:00Z' });
  assert.deepEqual(await due([wanted(name, { isManaged: true })], [certificate()], [issued]), []);
  assert.deepEqual(await due([wanted(name, { isManaged: true, keyType: 'rsa' })], [certificate()], [issued]), [name]);
});

test('a name that has failed waits for its time, and an order that was begun is gone on with', async () => {
  const failed = job({ failures: 1, retriesAt: '2026-11-15T12:00:01Z', orderUrl: 'https://ca/1' });
  assert.deepEqual(await due([wanted(name)], [], [failed]), []);
  assert.deepEqual(await due([wanted(name)], [], [{ ...failed, retriesAt: '2026-11-15T12:00:00Z' }]), [name]);
  assert.deepEqual(await due([wanted(name)], [certificate()], [job({ orderUrl: 'https://ca/1' })]), [name]);
});

test('renewals go before new names, what ends first before what ends later, and of either those that fail come last', async () => {
  const [a, b, c, d, e, f] = ['a', 'b', 'c', 'd', 'e', 'f'].map((label) => `${label}.gatehouse-app.net`) as [
    string,
    string,
    string,
    string,
    string,
    string,
  ];
  const ends = [
    [b, 20],
    [c, 10],
    [d, -1],
    [e, 1],
  ] as const;
  const certificates = ends.map(([each, days]) =>
    certificate({ id: `cert_${each}`, names: [each], notAfterMs: nowMs + days * dayMs }),
  );
  const jobs = [
    job({ hostname: a, failures: 3, retriesAt: '2026-11-15T11:00:00Z' }),
    ...ends.map(([each]) => job({ hostname: each, certificateId: `cert_${each}`, renewsAt: '2026-11-15T11:00:00Z' })),
    job({ hostname: f, certificateId: 'cert_deleted', renewsAt: '2026-11-15T11:00:00Z' }),
  ].map((each) => (each.hostname === e ? { ...each, failures: 1 } : each));
  const names = [a, b, c, d, e, f].map((each) => wanted(each));
  assert.deepEqual(await due(names, certificates, jobs), [d, c, b, e, f, a]);
});

test('the work grows with the names and the certificates, not with both at once', async () => {
  const count = 500;
  let looks = 0;
  const certificates = Array.from({ length: count }, (_, at) => ({
    ...certificate({ id: `cert_${at}`, names: [`n${at}.gatehouse-app.net`] }),
    get accountId() {
      looks += 1;
      return 'ac_1';
    },
  }));
  const names = certificates.map(({ names: [first = ''] }) => wanted(first));
  const jobs = names.map(({ hostname }, at) => job({ hostname, certificateId: `cert_${at}` }));
  assert.equal((await due(names, certificates, jobs)).length, count);
  assert.ok(looks <= 4 * count, `looked at certificates ${looks} times`);
});
