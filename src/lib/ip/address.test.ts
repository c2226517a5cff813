import assert from 'node:assert/strict';
import { isIP } from 'node:net';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { formatIp, ipFromIpv4Word, ipFromIpv6Words, parseIp } from './address.ts';

const word = fc.oneof(fc.constant(0), fc.nat(0xffff), fc.nat(0xffffffff));
const ipv4 = word.map(ipFromIpv4Word);
const ipv6 = fc
  .tuple(word, word, word, word)
  .map((words) => ipFromIpv6Words(...words))
  .filter(({ family }) => family === 6);

/** Text near enough to an address that many samples are one and many just fail to be. */
const addressLike = fc
  .array(fc.constantFrom('::', ':', '.', '0', '1', '01', '255', '256', 'fFfF', '12345', '1.2.3.4', 'g', '%', ' '), {
    maxLength: 16,
  })
  .map((parts) => parts.join(''));
const colonSeparated = fc
  .array(fc.constantFrom('', '0', 'ab', '1.2.3.4'), { minLength: 2, maxLength: 10 })
  .map((parts) => parts.join(':'));

test('an IPv4 address is one signed word', () => {
  const ipv4Of = (word0: number) => ({ family: 4, word0, word1: 0, word2: 0, word3: 0 });
  assert.deepEqual(parseIp('1.2.3.4'), ipv4Of(0x01020304));
  assert.deepEqual(parseIp('255.255.255.255'), ipv4Of(-1));
  assert.deepEqual(parseIp('0.0.0.0'), ipv4Of(0));
});

test('an IPv6 address is four signed words in any spelling', () => {
  const ipv6Of = (word0: number, word1: number, word2: number, word3: number) => ({
    family: 6,
    word0,
    word1,
    word2,
    word3,
  });
  const expected = ipv6Of(0x20010db8, 0, 0, 0x0a0b0c0d);
  for (const text of [
    '2001:db8::a0b:c0d',
    '2001:0DB8:0:0:0:0:0A0B:0C0D',
    '2001:db8::10.11.12.13',
    '2001:db8:0:0:0:0:10.11.12.13',
  ])
    assert.deepEqual(parseIp(text), expected, text);
  assert.deepEqual(parseIp('::'), ipv6Of(0, 0, 0, 0));
  assert.deepEqual(parseIp('ffff::ffff:ffff'), ipv6Of(-0x10000, 0, 0, -1));
  assert.deepEqual(parseIp('1:2:3:4:5:6:7::'), ipv6Of(0x10002, 0x30004, 0x50006, 0x70000));
});

test('an IPv4-mapped address is the IPv4 address', () => {
  for (const text of ['::ffff:1.2.3.4', '::FFFF:102:304', '0:0:0:0:0:ffff:1.2.3.4', '::ffff:1.2.3.4%eth0'])
    assert.deepEqual(parseIp(text), ipFromIpv4Word(0x01020304), text);
  assert.equal(parseIp('::1.2.3.4')?.family, 6);
  assert.equal(parseIp('::ffff:0:102:304')?.family, 6);
});

test('the zone of an IPv6 address is dropped', () => {
  assert.deepEqual(parseIp('fe80::1%eth0'), parseIp('fe80::1'));
  for (const text of ['fe80::1%', 'fe80::1%a b', '%eth0', '1.2.3.4%eth0']) assert.equal(parseIp(text), undefined, text);
});

test('short, octal, padded and decorated IPv4 is refused', () => {
  for (const text of ['', '1', '1.2', '1.2.3', '1.2.3.4.', '.1.2.3.4', '1..2.3', '1.2.3.4.5', '01.2.3.4', '1.2.3.00'])
    assert.equal(parseIp(text), undefined, text);
  for (const text of [
    '1.2.3.256',
    '1.2.3.1000',
    '0x1.2.3.4',
    '+1.2.3.4',
    ' 1.2.3.4',
    '1.2.3.4 ',
    '1.2.3.4/32',
    '１.2.3.4',
  ])
    assert.equal(parseIp(text), undefined, text);
});

test('broken IPv6 is refused', () => {
  for (const text of [':', ':::', '1:', ':1', '1::2::3', '1:2:3:4:5:6:7', '1:2:3:4:5:6:7:8:9', '1:2:3:4::5:6:7:8'])
    assert.equal(parseIp(text), undefined, text);
  for (const text of [
    '12345::',
    'g::',
    '\u0131::',
    '::1.2.3',
    '::01.2.3.4',
    '1.2.3.4::',
    '1:2:3:4:5:6:7:1.2.3.4',
    '[::1]',
    '::1 ',
  ])
    assert.equal(parseIp(text), undefined, text);
});

test('exactly what the platform takes for an address is parsed', () => {
  fc.assert(
    fc.property(fc.oneof(addressLike, colonSeparated, fc.ipV4(), fc.ipV6()), (text) => {
      fc.pre(!text.includes('%'));
      assert.equal(parseIp(text) !== undefined, isIP(text) !== 0, text);
    }),
    { numRuns: 5000 },
  );
});

test('an IPv6 address is written as RFC 5952 asks', () => {
  for (const [text, canonical] of [
    ['2001:DB8:0:0:0:0:2:1', '2001:db8::2:1'],
    ['2001:db8:0:1:1:1:1:1', '2001:db8:0:1:1:1:1:1'],
    ['2001:0:0:1:0:0:0:1', '2001:0:0:1::1'],
    ['2001:db8:0:0:1:0:0:1', '2001:db8::1:0:0:1'],
    ['0:0:0:0:0:0:0:0', '::'],
    ['1:0:0:0:0:0:0:0', '1::'],
  ]) {
    const ip = parseIp(text ?? '');
    assert.ok(ip);
    assert.equal(formatIp(ip), canonical);
  }
});

test('IPv6 text agrees with that of the URL standard', () => {
  fc.assert(fc.property(ipv6, (ip) => assert.equal(`[${formatIp(ip)}]`, new URL(`http://[${formatIp(ip)}]`).hostname)));
});

test('what is written is read back as the same address', () => {
  fc.assert(fc.property(fc.oneof(ipv4, ipv6), (ip) => assert.deepEqual(parseIp(formatIp(ip)), ip)));
});
