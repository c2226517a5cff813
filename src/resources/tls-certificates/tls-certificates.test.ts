import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';

import { makeExpired, makeKey, makePair } from '../../../test/support/certificate-pair.ts';
import { createAccount, createUser } from '../../../test/support/people.ts';
import { refuses } from '../../../test/support/refusals.ts';
import { onGatehousesInTurn } from '../../../test/support/shared-gatehouse.ts';
import { tlsCertificatesResource } from './index.ts';

const path = '/tls_certificates';
const subject = '/C=DE/ST=Bayern/L=München/O=Müller & Söhne/OU=Netz/CN=app.test';
const names = 'subjectAltName=DNS:App.test,DNS:*.wild.test,IP:192.0.2.1,IP:2001:db8::1';
const usage = ['-addext', 'keyUsage=digitalSignature', '-addext', 'extendedKeyUsage=serverAuth'];
const issuer = makePair('issuer', '-subj', '/CN=Test Root', '-addext', 'keyUsage=critical,keyCertSign');
const whose = ['-CA', 'issuer.pem', '-CAkey', 'issuer.key', '-addext', 'basicConstraints=CA:FALSE'];
const leaf = makePair('leaf', '-utf8', '-subj', subject, '-addext', names, ...usage, ...whose);
const plain = makePair('plain', '-subj', '/CN=plain.test');
/** Chains come with notes and blanks, which are returned with them. */
const chain = { ...leaf, certificate_pem: `leaf:\r\n${leaf.certificate_pem}\n\nissuer:\n${issuer.certificate_pem}  ` };
const keyLine = leaf.private_key_pem.split('\n')[1] ?? '';

const shown = (time: Date) => time.toISOString().replace('.000', '');

onGatehousesInTurn(
  'TLS certificates',
  (g) => {
    test('a pair is uploaded; everything it says is shown, but never the key', async () => {
      const { status, text, body } = await g().post(path, { description: 'd', metadata: 'm', ...chain });
      assert.equal(status, 201);
      const { id, created_at, ...rest } = body;
      const { validFromDate, validToDate } = new X509Certificate(leaf.certificate_pem);
      assert.match(id, /^cert_[0-9A-Za-z]{27}$/);
      assert.match(created_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
      assert.deepEqual(rest, {
        uri: `${g().url}${path}/${id}`,
        description: 'd',
        metadata: 'm',
        certificate_pem: chain.certificate_pem,
        subject_common_name: 'app.test',
        subject_alternative_names: { dns_names: ['App.test', '*.wild.test'], ips: ['192.0.2.1', '2001:db8::1'] },
        issued_at: null,
        not_before: shown(validFromDate),
        not_after: shown(validToDate),
        key_usages: ['digital_signature'],
        extended_key_usages: ['server_auth'],
        private_key_type: 'ecdsa',
        issuer_common_name: 'Test Root',
        serial_number: '0a0b',
        subject_organization: 'Müller & Söhne',
        subject_organizational_unit: 'Netz',
        subject_locality: 'München',
        subject_province: 'Bayern',
        subject_country: 'DE',
      });
      const read = await g().get(`${path}/${id}`);
      assert.deepEqual(read.body, body);
      const listed = await g().get(`${path}?limit=1`);
      assert.deepEqual(listed.body.tls_certificates, [body]);
      for (const answer of [text, read.text, listed.text]) assert.ok(!answer.includes(keyLine));
    });

    test('what a certificate does not say is empty, texts are left out', async () => {
      const { description, metadata, ...body } = await g().create(path, { ...plain, description: '', metadata: null });
      assert.deepEqual([description, metadata], [undefined, undefined]);
      const empty = ['organization', 'organizational_unit', 'locality', 'province', 'country'];
      for (const field of empty) assert.equal(body[`subject_${field}`], '');
      assert.deepEqual(body.subject_alternative_names, { dns_names: [], ips: [] });
      assert.deepEqual([body.key_usages, body.extended_key_usages], [[], []]);
    });

    test('a certificate may have expired', async () => {
      const { not_after } = await g().create(path, makeExpired('plain', plain));
      assert.ok(Date.parse(not_after) < Date.now());
    });

    test('what is wrong with a pair is told by its own number, without the key', async () => {
      const { certificate_pem, private_key_pem } = leaf;
      const refusals = [
        [{}, 1919],
        [{ private_key_pem }, 1919],
        [{ certificate_pem: '', private_key_pem }, 1919],
        [{ certificate_pem }, 1901],
        [{ certificate_pem, private_key_pem: null }, 1901],
        [{ certificate_pem, private_key_pem: '' }, 1901],
        [{ certificate_pem, private_key_pem: [keyLine] }, 1903],
        [{ certificate_pem, private_key_pem: `${private_key_pem}\u0000` }, 1903],
        [{ certificate_pem, private_key_pem: private_key_pem.replace(keyLine, keyLine.slice(4)) }, 1903],
        [{ certificate_pem, private_key_pem: makeKey('x') }, 1902],
        [{ certificate_pem, private_key_pem: plain.private_key_pem }, 1923],
        [{ certificate_pem: private_key_pem, private_key_pem: certificate_pem }, 1924],
        [{ certificate_pem, private_key_pem: certificate_pem }, 1911],
        [{ certificate_pem: 'x', private_key_pem }, 1920],
        [{ certificate_pem: `${certificate_pem}${plain.certificate_pem}`, private_key_pem }, 1926],
        [{ certificate_pem: `${certificate_pem}${' '.repeat(65_536)}`, private_key_pem }, 1921],
        [{ certificate_pem: certificate_pem.replace(/M/, 'N'), private_key_pem }, 1900],
        [{ certificate_pem: 7, private_key_pem }, 215],
        [{ ...leaf, description: 'x'.repeat(256) }, 1916],
        [{ ...leaf, metadata: 'x'.repeat(4097) }, 1917],
        [{ ...leaf, passphrase: 'x' }, 214],
      ] as const;
      for (const [body, code] of refusals) {
        const message = await refuses(g(), ['POST', path, body], 400, code);
        assert.ok(!message.includes(keyLine.slice(4, 20)), message);
      }
      assert.ok(!g().logLines.join('').includes(keyLine.slice(4, 20)));
    });

    test('PATCH changes the texts and nothing else', async () => {
      const created = await g().create(path, { ...plain, description: 'd' });
      const one = `${path}/${created.id}`;
      const changed = await g().patch(one, { description: '', metadata: 'm', id: created.id });
      const { description: _gone, ...kept } = created;
      assert.deepEqual(changed.body, { ...kept, metadata: 'm' });
      assert.deepEqual((await g().patch(one, {})).body, changed.body);
      await refuses(g(), ['PATCH', one, { certificate_pem: leaf.certificate_pem }], 400, 20190);
      await refuses(g(), ['PATCH', one, { private_key_pem: leaf.certificate_pem }], 400, 214);
      assert.deepEqual((await g().get(one)).body, changed.body);
    });

    test('a certificate is gone after its deletion, and never there for another account', async () => {
      const one = `${path}/${(await g().create(path, plain)).id}`;
      const stranger = await createUser(g(), 'admin', await createAccount(g()));
      for (const method of ['GET', 'PATCH', 'DELETE']) {
        await refuses(g(), [method, one, method === 'PATCH' ? {} : undefined, stranger], 404, 222);
      }
      assert.equal((await g().delete(one)).status, 204);
      await refuses(g(), ['GET', one], 404, 222);
    });

    test('the gateway is told the pair and its names', async () => {
      const { id } = await g().create(path, chain);
      const { context } = g().app;
      const [compiler] = tlsCertificatesResource.compilers?.(context) ?? [];
      assert.ok(compiler);
      const [entry, ...others] = await compiler.load(context.store.queries, [id, 'cert_gone']);
      assert.deepEqual(others, []);
      assert.ok(entry?.kind === 'certificate' && entry.accountId.startsWith('ac_'));
      assert.equal(entry.certificatePem, chain.certificate_pem);
      assert.equal(entry.privateKeyPem, chain.private_key_pem);
      assert.deepEqual(entry.names, ['app.test', '*.wild.test']);
      assert.ok((await compiler.load(context.store.queries, undefined)).length > 1);
    });
  },
  { role: 'api' },
);
