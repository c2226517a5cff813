import assert from 'node:assert/strict';
import { test } from 'node:test';

import { encode, geoDatabase } from '../../../test/support/geo-database.ts';
import { parseIp } from '../ip/address.ts';
import { decode } from './decode.ts';
import { Mmdb } from './mmdb.ts';

const plain = (value: unknown): unknown => {
  if (value instanceof Map) return Object.fromEntries(Array.from(value, ([key, each]) => [key, plain(each)]));
  return Array.isArray(value) ? value.map(plain) : value;
};
const find = (file: Mmdb, address: string) => plain(file.find(parseIp(address) ?? assert.fail(address)));

const records = {
  '192.0.2.0/24': {
    country: { iso_code: 'DE', is_in_european_union: true },
    location: { latitude: 51.5, accuracy: 20 },
  },
  '198.51.100.7/32': { country: { iso_code: 'FR' }, names: ['a', 'b'], long: 'x'.repeat(400), middle: 'y'.repeat(100) },
  '2001:db8::/32': { country: { iso_code: 'JP' }, far: -1.25, large: 2 ** 40 },
};

for (const bits of [24, 28, 32] as const) {
  test(`addresses are found in a file with records of ${bits} bits`, () => {
    const file = new Mmdb(geoDatabase(records, { bits }));
    assert.equal(file.type, 'Test-City');
    assert.deepEqual(find(file, '192.0.2.77'), records['192.0.2.0/24']);
    assert.deepEqual(find(file, '::ffff:192.0.2.77'), records['192.0.2.0/24']);
    assert.deepEqual(find(file, '198.51.100.7'), records['198.51.100.7/32']);
    assert.deepEqual(find(file, '2001:db8:1::1'), { ...records['2001:db8::/32'], large: BigInt(2 ** 40) });
    for (const none of ['192.0.3.1', '198.51.100.8', '2001:db9::1', '::1', '0.0.0.0', '255.255.255.255'])
      assert.equal(find(file, none), undefined, none);
  });
}

test('a file with IPv4 alone knows nothing of IPv6', () => {
  const file = new Mmdb(geoDatabase({ '192.0.2.0/24': { a: 1 } }, { version: 4 }));
  assert.deepEqual(find(file, '192.0.2.1'), { a: 1 });
  assert.equal(find(file, '2001:db8::1'), undefined);
});

test('what is no such file, or a part of one, is refused with the reason', () => {
  const whole = geoDatabase(records);
  const refused: readonly (readonly [Buffer, RegExp])[] = [
    [Buffer.alloc(0), /no file in the MaxMind DB format/],
    [Buffer.from('<html>'), /no file in the MaxMind DB format/],
    [whole.subarray(0, -200), /no file|metadata/],
    [whole.subarray(100), /shorter|does not fit/],
  ];
  for (const [file, reason] of refused) assert.throws(() => new Mmdb(file), reason);
});

test('broken files end in an error or an answer, and never run on', () => {
  const whole = geoDatabase(records);
  let [opened, failed] = [0, 0];
  for (let at = 0; at < whole.length; at++) {
    const broken = Buffer.from(whole);
    broken[at] = (broken[at] ?? 0) ^ 0xff;
    try {
      const file = new Mmdb(broken);
      opened += 1;
      for (const address of ['192.0.2.77', '198.51.100.7', '2001:db8:1::1']) find(file, address);
    } catch (error) {
      failed += 1;
      assert.ok(error instanceof Error);
    }
  }
  assert.ok(opened > 100 && failed > 100, `${opened} opened, ${failed} failed`);
});

test('a record that points to itself, is too deep or too long is refused', () => {
  // A map with one key, whose value is a pointer to the map.
  const loop = Buffer.concat([Buffer.from([0xe1]), encode('a'), Buffer.from([0x20, 0])]);
  assert.throws(() => decode(loop, 0), /too deep/);
  // A list of lists, each of which is the next one twice.
  const doubling = Buffer.concat(
    Array.from({ length: 30 }, (_, at) => {
      const next = (at + 1) * 6;
      return Buffer.from([2, 4, 0x20 | (next >> 8), next & 255, 0x20 | (next >> 8), next & 255]);
    }),
  );
  assert.throws(() => decode(Buffer.concat([doubling, encode('end')]), 0), /too long/);
  assert.throws(() => decode(Buffer.from([0x5f, 0xff, 0xff, 0xff]), 0), /behind the end/);
});
