import assert from 'node:assert/strict';
import { test } from 'node:test';

import { formatIp, parseIp } from './address.ts';
import type { IpAddress } from './address.ts';
import { isLinkLocal, isLoopback, isUnspecified, translatedIpv4 } from './special-addresses.ts';

function ip(text: string): IpAddress {
  const parsed = parseIp(text);
  assert.ok(parsed, text);
  return parsed;
}

const kinds: readonly [name: string, is: (ip: IpAddress) => boolean, yes: readonly string[], no: readonly string[]][] =
  [
    [
      'loopback',
      isLoopback,
      ['127.0.0.1', '127.255.255.255', '::1', '::ffff:127.0.0.2'],
      ['126.255.255.255', '128.0.0.0', '::', '::2', '1::1', '0:0:1::1'],
    ],
    ['unspecified', isUnspecified, ['0.0.0.0', '0.1.2.3', '::', '::ffff:0.0.0.0'], ['1.0.0.0', '::1', '1::']],
    [
      'link-local',
      isLinkLocal,
      ['169.254.0.0', '169.254.169.254', 'fe80::1', 'febf:ffff::', '::ffff:169.254.1.1'],
      ['169.253.255.255', '169.255.0.0', 'fe7f::1', 'fec0::', 'fd00::'],
    ],
  ];
for (const [name, is, yes, no] of kinds) {
  test(`addresses are known as ${name}, in every spelling, and others are not`, () => {
    for (const text of yes) assert.equal(is(ip(text)), true, text);
    for (const text of no) assert.equal(is(ip(text)), false, text);
  });
}

test('the IPv4 address behind a NAT64 is found', () => {
  const found = translatedIpv4(ip('64:ff9b::203.0.113.9'));
  assert.equal(found && formatIp(found), '203.0.113.9');
  for (const text of ['203.0.113.9', '64:ff9b:1::1', '64:ff9c::1', '64:ff9b::1:0:0']) {
    assert.equal(translatedIpv4(ip(text)), undefined, text);
  }
});
