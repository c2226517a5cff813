import assert from 'node:assert/strict';
import { test } from 'node:test';

import { readDer, writeBitString, writeDer, writeOid, writePositiveInteger, writeTime } from './der.ts';

test('what is written is read back, for every form of a length', () => {
  for (const length of [0, 1, 127, 128, 255, 256, 65_535]) {
    const content = Buffer.alloc(length, 7);
    const bytes = Buffer.concat([writeDer(0x04, content), writeDer(0x30)]);
    assert.deepEqual(readDer(bytes), [
      { tag: 0x04, content },
      { tag: 0x30, content: Buffer.alloc(0) },
    ]);
  }
});

test('lengths are written in the fewest bytes', () => {
  const heads = [127, 128, 255, 256].map((length) =>
    writeDer(0x04, Buffer.alloc(length)).subarray(0, 4).toString('hex'),
  );
  assert.deepEqual(heads, ['047f0000', '04818000', '0481ff00', '04820100']);
});

test('bytes that break off, run over or have no length are refused', () => {
  for (const hex of ['04', '0402ff', '0480', '0485000000000100', '048201', '1f0100', '04ffff']) {
    assert.throws(() => readDer(Buffer.from(hex, 'hex')), { name: 'RangeError' }, hex);
  }
});

test('object identifiers take as many bytes as each number needs', () => {
  assert.equal(writeOid('1.2.840.10045.4.3.2').toString('hex'), '06082a8648ce3d040302');
  assert.equal(writeOid('2.5.29.15').toString('hex'), '0603551d0f');
});

test('an integer stays positive and loses leading zeros', () => {
  const written = [[0x80], [0x00, 0x7f], [0], []].map((bytes) => writePositiveInteger(Uint8Array.from(bytes)));
  assert.deepEqual(
    written.map((bytes) => bytes.toString('hex')),
    ['02020080', '02017f', '020100', '020100'],
  );
});

test('times have two-digit years up to 2049', () => {
  const times = ['2049-12-31T23:59:59Z', '2050-01-01T00:00:00Z'].map((time) => writeTime(new Date(time)));
  assert.deepEqual(
    times.map((bytes) => [bytes[0], bytes.subarray(2).toString()]),
    [
      [0x17, '491231235959Z'],
      [0x18, '20500101000000Z'],
    ],
  );
});

test('a bit string says how many bits of its last byte are unused', () => {
  assert.equal(writeBitString(Uint8Array.of(6), 1).toString('hex'), '03020106');
});
