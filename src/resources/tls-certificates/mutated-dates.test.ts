import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';

import { readValidity } from '../../lib/certificate-validity.ts';
import { Random } from '../../../test/e2e/gateway/support/random.ts';
import { makePair } from '../../../test/support/certificate-pair.ts';
import { readCertificatePair } from '../../lib/certificate-pair.ts';

const pair = makePair('dates', '-subj', '/CN=dates.test', '-days', '30000');
const original = new X509Certificate(pair.certificate_pem);
const der = original.raw;
/** The two dates in the DER, with their tags and lengths: one of two-digit years, one of four-digit years. */
const dates = der.indexOf(Buffer.from([0x17, 0x0d]));
const datesLength = 15 + 17;

/** Bytes that dates are made of, or that readers of dates have taken for such. */
const bytes = [...Buffer.from('0123456789Z+-. :'), 0x00, 0x17, 0x18, 0x0d, 0x0f, 0x11, 0xff];

const isLong = process.env['TEST_LONG'] === '1';
const cases = isLong ? 200_000 : 1000;
const first = isLong ? Date.now() % 1_000_000_000 : 0;
const only = process.env['TEST_SEED'];

function mutate(seed: number): Buffer {
  const random = new Random(Math.imul(seed + 1, 0x9e3779b1));
  const mutated = Buffer.from(der);
  for (let left = 1 + random.below(3); left > 0; left--) {
    mutated[dates + random.below(datesLength)] = random.below(4) === 0 ? random.below(256) : random.pick(bytes);
  }
  return mutated;
}

function toPem(certificate: Buffer): string {
  return `-----BEGIN CERTIFICATE-----\n${certificate.toString('base64')}\n-----END CERTIFICATE-----\n`;
}

function open(bytesOfOne: Buffer): X509Certificate | undefined {
  try {
    return new X509Certificate(bytesOfOne);
  } catch {
    return undefined;
  }
}

test('a certificate with mutated dates is refused, or has the dates that OpenSSL prints', (t) => {
  const seen = { refused: 0, taken: 0, unreadable: 0, badTime: 0 };
  const seeds = only === undefined ? Array.from({ length: cases }, (_, at) => first + at) : [Number(only)];
  for (const seed of seeds) {
    const mutated = mutate(seed);
    const certificate = open(mutated);
    const read = readCertificatePair(toPem(mutated), pair.private_key_pem);
    if (certificate === undefined) {
      seen.unreadable += 1;
      assert.ok('fault' in read, `TEST_SEED=${seed} repeats this: it is no certificate, and was taken`);
      continue;
    }
    const printed = [certificate.validFrom, certificate.validTo];
    const repeats = `TEST_SEED=${seed} repeats this: ${printed.join(', ')}`;
    if (printed.includes('Bad time value')) {
      seen.badTime += 1;
      assert.ok('fault' in read, repeats);
      assert.throws(() => readValidity(certificate), RangeError, repeats);
    }
    if ('fault' in read) {
      seen.refused += 1;
      continue;
    }
    seen.taken += 1;
    const shown = [read.notBefore, read.notAfter].map((text) => Date.parse(text));
    assert.deepEqual(shown, printed.map(Date.parse), repeats);
  }
  t.diagnostic(JSON.stringify(seen));
  if (only !== undefined) return;
  // Mutations that break everything, or nothing, would prove little.
  assert.ok(seen.taken > cases / 20 && seen.badTime > cases / 20, JSON.stringify(seen));
});

const malformed: readonly (readonly [string, string])[] = [
  ['a day that its month does not have', '260230000000Z'],
  ['a thirteenth month', '261301000000Z'],
  ['a leap second', '261231235960Z'],
  ['a letter', '26o101000000Z'],
  ['no zone', '2601010000000'],
];

for (const [what, date] of malformed) {
  test(`a certificate whose date has ${what} is refused, and the reason names its dates`, () => {
    const mutated = Buffer.from(der);
    mutated.write(date, dates + 2, 'latin1');
    assert.throws(() => readValidity({ raw: mutated }), RangeError);
    const reason = 'its dates are not dates as X.509 writes them; have it issued again';
    const refused = { fault: 'certificate-unreadable', reason };
    assert.deepEqual(readCertificatePair(toPem(mutated), pair.private_key_pem), refused);
  });
}

test('the dates of a certificate are those that it was made with, of either form', () => {
  const { notBefore, notAfter } = readValidity(original);
  assert.deepEqual(
    [notBefore, notAfter],
    [original.validFrom, original.validTo].map((text) => new Date(text)),
  );
  assert.ok(notBefore.getUTCFullYear() < 2050 && notAfter.getUTCFullYear() > 2050);
});
