import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { ipFromIpv4Word, ipFromIpv6Words, parseIp } from './address.ts';
import type { IpAddress } from './address.ts';
import { cidrOfAddress, cidrsContaining, formatCidr, networkOf, parseCidr } from './cidr.ts';

const word = fc.oneof(fc.constant(0), fc.nat(0xffffffff));
const ipv4 = word.map(ipFromIpv4Word);
/** In 2000::/3, and so never IPv4-mapped. */
const ipv6 = fc
  .tuple(fc.integer({ min: 0x20000000, max: 0x3fffffff }), word, word, word)
  .map((words) => ipFromIpv6Words(...words));
const prefixOf = (ip: IpAddress) => fc.nat(ip.family === 4 ? 32 : 128);

function bitText({ family, word0, word1, word2, word3 }: IpAddress): string {
  const words = family === 4 ? [word0] : [word0, word1, word2, word3];
  return words.map((part) => (part >>> 0).toString(2).padStart(32, '0')).join('');
}

function address(text: string): IpAddress {
  const ip = parseIp(text);
  assert.ok(ip);
  return ip;
}

test('a CIDR is parsed and given its canonical text', () => {
  for (const [text, canonical] of [
    ['10.0.0.0/8', '10.0.0.0/8'],
    ['0.0.0.0/0', '0.0.0.0/0'],
    ['255.255.255.255/32', '255.255.255.255/32'],
    ['2001:DB8:0::/32', '2001:db8::/32'],
    ['::/0', '::/0'],
    ['::1/128', '::1/128'],
    ['64:ff9b::1.2.3.0/120', '64:ff9b::102:300/120'],
  ]) {
    const result = parseCidr(text ?? '');
    assert.ok(result.ok, text);
    assert.equal(result.canonical, canonical);
    assert.equal(formatCidr(result.cidr), canonical);
  }
});

test('a missing mask is named, with the single address as suggestion', () => {
  for (const [text, suggestion] of [
    ['10.1.2.3', '10.1.2.3/32'],
    ['2001:DB8::1', '2001:db8::1/128'],
    ['::ffff:10.1.2.3', '10.1.2.3/32'],
  ]) {
    const result = parseCidr(text ?? '');
    assert.ok(!result.ok);
    assert.deepEqual([result.fault, result.suggestion], ['no-mask', suggestion]);
  }
});

test('bits after the mask are refused, with the network as suggestion', () => {
  for (const [text, suggestion] of [
    ['10.1.2.3/8', '10.0.0.0/8'],
    ['0.0.0.1/0', '0.0.0.0/0'],
    ['255.255.255.255/31', '255.255.255.254/31'],
    ['2001:db8::1/64', '2001:db8::/64'],
    ['::ffff:0:0/95', '::fffe:0:0/95'],
  ]) {
    const result = parseCidr(text ?? '');
    assert.ok(!result.ok);
    assert.deepEqual([result.fault, result.suggestion], ['host-bits', suggestion]);
  }
});

test('a range of IPv4-mapped addresses is refused in favour of the IPv4 range', () => {
  for (const [text, suggestion] of [
    ['::ffff:10.0.0.0/104', '10.0.0.0/8'],
    ['::FFFF:a00:0/104', '10.0.0.0/8'],
    ['::ffff:0:0/96', '0.0.0.0/0'],
    ['::ffff:10.1.2.3/128', '10.1.2.3/32'],
  ]) {
    const result = parseCidr(text ?? '');
    assert.ok(!result.ok);
    assert.deepEqual([result.fault, result.suggestion], ['malformed', suggestion]);
    assert.match(result.reason, /write \d+\.\d+\.\d+\.\d+\/\d+$/);
  }
});

test('anything else is malformed', () => {
  const masks = ['/', '/33', '/08', '/+8', '/-1', '/8 ', '/ 8', '/8/8', '/8.0', '/1e1', '/0x8', '/255.0.0.0', '/٨'];
  const texts = masks.map((mask) => `10.0.0.0${mask}`);
  texts.push('', '/', '/8', ' 10.0.0.0/8', '10.0.0.0 /8', '10.0.0/8', '10/8', '010.0.0.0/8', 'example.com/8');
  texts.push('::/129', '::/00', ':::/8', 'fe80::%eth0/64', 'fe80::1%eth0', '[::]/0', '::ffff:10.0.0.0/129');
  for (const text of texts) {
    const result = parseCidr(text);
    assert.ok(!result.ok, text);
    assert.equal(result.fault, 'malformed', text);
  }
});

test('a network keeps the leading bits of the address and no other', () => {
  const sample = fc.oneof(ipv4, ipv6).chain((ip) => fc.tuple(fc.constant(ip), prefixOf(ip)));
  fc.assert(
    fc.property(sample, ([ip, prefix]) => {
      const bits = bitText(ip);
      assert.equal(bitText(networkOf(ip, prefix)), bits.slice(0, prefix).padEnd(bits.length, '0'));
    }),
  );
});

test('the text of any network is read back as that network', () => {
  const sample = fc.oneof(ipv4, ipv6).chain((ip) => prefixOf(ip).map((prefix) => networkOf(ip, prefix)));
  fc.assert(
    fc.property(sample, (cidr) => {
      const canonical = formatCidr(cidr);
      assert.deepEqual(parseCidr(canonical), { ok: true, cidr, canonical });
    }),
  );
});

test('an address lies in one range of each mask length, from all addresses to itself alone', () => {
  const of4 = cidrsContaining(address('10.1.2.3'));
  assert.equal(of4.length, 33);
  assert.deepEqual([of4[0], of4[8], of4[31], of4[32]], ['0.0.0.0/0', '10.0.0.0/8', '10.1.2.2/31', '10.1.2.3/32']);
  const of6 = cidrsContaining(address('2001:db8::3'));
  assert.equal(of6.length, 129);
  assert.deepEqual([of6[0], of6[32], of6[128]], ['::/0', '2001:db8::/32', '2001:db8::3/128']);
  for (const text of [...of4, ...of6]) {
    const result = parseCidr(text);
    assert.ok(result.ok);
    assert.equal(result.canonical, text);
  }
});

test('the range of one address has the full mask', () => {
  assert.equal(formatCidr(cidrOfAddress(address('::ffff:10.1.2.3'))), '10.1.2.3/32');
  assert.equal(formatCidr(cidrOfAddress(address('::1'))), '::1/128');
});
