import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { formatIp, parseIp } from './address.ts';
import type { IpAddress } from './address.ts';
import type { CidrSet } from './cidr-set.ts';
import { clientAddress, parseTrustedProxies } from './client-address.ts';

function address(text: string): IpAddress {
  const ip = parseIp(text);
  assert.ok(ip, text);
  return ip;
}

function proxies(text: string): CidrSet {
  const result = parseTrustedProxies(text);
  assert.ok(result.ok);
  return result.proxies;
}

const trusted = proxies('10.0.0.0/8, 2001:db8::/32, ::1');

function client(peer: string, forwardedFor?: string | string[]): string {
  return formatIp(clientAddress(address(peer), forwardedFor, trusted));
}

test('without the header the peer is the client', () => {
  assert.equal(client('10.0.0.1'), '10.0.0.1');
  assert.equal(client('10.0.0.1', ''), '10.0.0.1');
  assert.equal(client('10.0.0.1', []), '10.0.0.1');
});

test('the header of a peer that is not trusted is not read', () => {
  assert.equal(client('192.0.2.1', '198.51.100.7'), '192.0.2.1');
  assert.equal(client('::ffff:192.0.2.1', '10.0.0.1'), '192.0.2.1');
});

test('the nearest address that is not trusted is the client, whatever stands before it', () => {
  assert.equal(client('10.0.0.1', '198.51.100.7'), '198.51.100.7');
  assert.equal(client('10.0.0.1', '10.9.9.9, 198.51.100.7'), '198.51.100.7');
  assert.equal(client('10.0.0.1', '203.0.113.9,198.51.100.7 , 10.0.0.2,10.0.0.3'), '198.51.100.7');
  assert.equal(client('2001:db8::1', '2001:db9::7, 2001:db8::2'), '2001:db9::7');
  assert.equal(client('::ffff:10.0.0.1', '::ffff:198.51.100.7'), '198.51.100.7');
});

test('several header lines are one list', () => {
  assert.equal(client('10.0.0.1', ['203.0.113.9', '198.51.100.7, 10.0.0.2']), '198.51.100.7');
  assert.equal(client('10.0.0.1', ['198.51.100.7', '10.0.0.2']), '198.51.100.7');
});

test('if every hop is trusted the farthest is the client', () => {
  assert.equal(client('10.0.0.1', '10.0.0.4, 10.0.0.3, 10.0.0.2'), '10.0.0.4');
});

test('nothing beyond an entry that is no address is believed', () => {
  for (const bad of [
    'unknown',
    '',
    ' ',
    '_hidden',
    '1.2.3',
    '1.2.3.4.5',
    '01.2.3.4',
    '198.51.100.7/32',
    'a:1',
    '"1.2.3.4"',
  ]) {
    assert.equal(client('10.0.0.1', `198.51.100.7, ${bad}, 10.0.0.2`), '10.0.0.2', bad);
    assert.equal(client('10.0.0.1', `198.51.100.7, ${bad}`), '10.0.0.1', bad);
    assert.equal(client('10.0.0.1', `${bad}, 198.51.100.7`), '198.51.100.7', bad);
  }
  assert.equal(client('10.0.0.1', ','), '10.0.0.1');
  assert.equal(client('10.0.0.1', ',10.0.0.2'), '10.0.0.2');
});

test('an entry may carry a port', () => {
  for (const [entry, expected] of [
    ['198.51.100.7:5678', '198.51.100.7'],
    ['[2001:db9::7]:443', '2001:db9::7'],
    ['[2001:db9::7]', '2001:db9::7'],
    ['2001:db9::7:443', '2001:db9::7:443'],
  ] as const)
    assert.equal(client('10.0.0.1', entry), expected);
  for (const bad of [
    '198.51.100.7:',
    '198.51.100.7:65536',
    '198.51.100.7:x',
    '[2001:db9::7]:',
    '[2001:db9::7',
    '[1.2.3.4]:1',
  ])
    assert.equal(client('10.0.0.1', bad), '10.0.0.1', bad);
});

test('what a client writes itself never changes who it is', () => {
  const forged = fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.constantFrom('10.0.0.9', '::1', '', 'x', '1.2.3.4:5')));
  const inner = fc.array(fc.constantFrom('10.0.0.2', '[2001:db8::2]:80', '10.1.1.1:9', '::1'), { maxLength: 4 });
  fc.assert(
    fc.property(forged, inner, (before, after) => {
      assert.equal(client('10.0.0.1', [...before, '198.51.100.7', ...after].join(', ')), '198.51.100.7');
    }),
  );
});

test('an address alone is trusted by itself', () => {
  const set = proxies(' 192.0.2.1 ,2001:DB8::1, 10.0.0.0/8,');
  for (const text of ['192.0.2.1', '2001:db8::1', '10.255.0.1', '::ffff:192.0.2.1'])
    assert.ok(set.lookup(address(text)), text);
  for (const text of ['192.0.2.2', '2001:db8::2', '11.0.0.0']) assert.equal(set.lookup(address(text)), 0, text);
});

test('an empty setting trusts nobody', () => {
  assert.equal(proxies('').byteLength, 0);
});

test('every fault of a setting is reported with its entry', () => {
  const result = parseTrustedProxies('10.0.0.1/8, ::1, example.com, ::ffff:10.0.0.0/104');
  assert.ok(!result.ok);
  assert.deepEqual(
    result.faults.map((fault) => fault.split(' ')[0]),
    ['"10.0.0.1/8"', '"example.com"', '"::ffff:10.0.0.0/104"'],
  );
  assert.match(result.faults[0] ?? '', /10\.0\.0\.0\/8/);
});
