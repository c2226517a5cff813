import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { connect, createServer } from 'node:tls';
import type { TLSSocket } from 'node:tls';

import { ClientAuthority } from '../../../test/support/client-certificates.ts';
import type { ClientPair } from '../../../test/support/client-certificates.ts';
import { checkShownCertificate } from '../../modules/shown-certificate.ts';
import type { ShownCertificate } from '../../modules/shown-certificate.ts';
import { readShownCertificate } from './shown-certificate.ts';

/** Authorities last two days. */
const authority = new ClientAuthority('clients');
const own = authority.sign('server', { usage: 'serverAuth' });
const endOf = (pem: string): number => new X509Certificate(pem).validToDate.getTime();

/** The result of a real handshake in which the client shows this pair, or nothing. */
async function show(t: TestContext, pair: ClientPair | undefined, ca = authority.pem): Promise<ShownCertificate> {
  const server = createServer({ ...own, ca, requestCert: true, rejectUnauthorized: false }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...pair });
  t.after(() => {
    client.destroy();
    server.close();
  });
  const [socket] = (await once(server, 'secureConnection')) as [TLSSocket];
  return readShownCertificate(socket, ca);
}

test(
  'a certificate ends with the first of its chain that does, be it an authority',
  { timeout: 240_000 },
  async (t) => {
    const long = authority.sign('long', { days: 30 });
    const short = authority.sign('short', { days: 1 });
    const [of, ofShort] = [await show(t, long), await show(t, short)];
    assert.deepEqual([of.subject, of.fault, of.validUntilMs], ['long', undefined, endOf(authority.pem)]);
    assert.ok(of.validUntilMs < endOf(long.cert));
    assert.equal(ofShort.validUntilMs, endOf(short.cert));
    assert.equal(checkShownCertificate(authority.pem, of, of.validUntilMs - 1), undefined);
    assert.match(checkShownCertificate(authority.pem, of, of.validUntilMs)?.message ?? '', /CERT_HAS_EXPIRED/);
  },
);

test(
  'nobody passes without a certificate, with one of others, or by what was asked for before',
  { timeout: 240_000 },
  async (t) => {
    const none = await show(t, undefined);
    const stranger = await show(t, new ClientAuthority('others').sign('eve'));
    const ada = await show(t, authority.sign('ada'));
    const codeOf = (ca: string, shown?: ShownCertificate) => checkShownCertificate(ca, shown)?.code;
    assert.equal(codeOf(authority.pem, ada), undefined);
    const refused = [none, stranger, { ...ada, ca: 'another' }, undefined].map((shown) => codeOf(authority.pem, shown));
    assert.ok(refused.every((code) => code !== undefined));
    assert.equal(new Set(refused).size, 3, 'the last two are told to connect again');
    assert.equal(refused[2], refused[3]);
  },
);

test('a fact has an end, however much a certificate says', { timeout: 240_000 }, async (t) => {
  const names = Array.from({ length: 200 }, (_, at) => `host-${at}.clients.example.com`);
  const { facts } = await show(t, authority.sign('many', { names }));
  const told = facts[facts.indexOf('X-Client-Cert-Names') + 1] ?? '';
  assert.match(told, /host-0\.clients/);
  assert.equal(told.length, 1024);
});

test('a subject is told as in a URI: none is read as another one', { timeout: 240_000 }, async (t) => {
  const facts = [];
  for (const name of ['50%', '50%25']) facts.push((await show(t, authority.sign(name))).facts[1]);
  assert.deepEqual(facts, ['CN=50%25', 'CN=50%2525']);
});

test(
  'a certificate whose dates are none is refused like any other that is not good',
  { timeout: 240_000 },
  async (t) => {
    const { cert, key } = authority.sign('odd');
    const der = Buffer.from(new X509Certificate(cert).raw);
    const dates = der.indexOf(Buffer.from([0x17, 0x0d]));
    // The last character of a date is a Z.
    der[dates + 29] = 0x21;
    const odd = `-----BEGIN CERTIFICATE-----\n${der.toString('base64')}\n-----END CERTIFICATE-----\n`;
    const shown = await show(t, { cert: odd, key });
    assert.equal(shown.subject, 'odd');
    assert.notEqual(shown.fault, undefined);
    assert.notEqual(checkShownCertificate(authority.pem, { ...shown, fault: undefined }), undefined);
  },
);
