import assert from 'node:assert/strict';
import { test } from 'node:test';

import { dataFrame, flags, goAwayFrame, resetFrame, windowIncrementFrame, writeHeader } from './frame.ts';
import { FrameReader } from './frame-reader.ts';
import type { FrameFault } from './frame-reader.ts';

interface Reading {
  readonly frames: string[];
  readonly fault: FrameFault | undefined;
}

/** Reads the bytes in pieces of `step` bytes. */
function read(bytes: Buffer, step = bytes.length): Reading {
  const frames: string[] = [];
  const reader = new FrameReader({
    data: (id, piece, flag) => {
      frames.push(`data ${id} ${flag} ${piece.toString()}`);
    },
    reset: (id, code) => frames.push(`reset ${id} ${code}`),
    windowIncrement: (id, increment) => frames.push(`increment ${id} ${increment}`),
    goAway: (id, code, text) => frames.push(`goaway ${id} ${code} ${text}`),
  });
  for (let at = 0; at < bytes.length; at += step) {
    const fault = reader.push(bytes.subarray(at, at + step));
    if (fault !== undefined) return { frames, fault };
  }
  return { frames, fault: undefined };
}

function header(type: number, flag: number, streamId: number, length: number): Buffer {
  const bytes = Buffer.alloc(8);
  writeHeader(bytes, type, flag, streamId, length);
  return bytes;
}

test('frames are written byte for byte as the protocol has them', () => {
  assert.equal(Buffer.concat(dataFrame(2, flags.syn, Buffer.from('ab'))).toString('hex'), '00000212000000026162');
  assert.equal(resetFrame(5, 4).toString('hex'), '000004000000000500000004');
  assert.equal(windowIncrementFrame(1, 1).toString('hex'), '000004200000000100000001');
  assert.equal(goAwayFrame(3, 1, 'x').toString('hex'), '0000093000000000000000030000000178');
});

test('a large payload is written behind its header without a copy', () => {
  const payload = Buffer.alloc(10_000, 1);
  const [head, body] = dataFrame(2, 0, payload);
  assert.equal(head.toString('hex'), '0027101000000002');
  assert.equal(body, payload);
});

test('frames are read alike in one piece and byte by byte', () => {
  const bytes = Buffer.concat([
    ...dataFrame(3, flags.syn, Buffer.from('a')),
    resetFrame(7, 6),
    windowIncrementFrame(9, 65_536),
    ...dataFrame(3, flags.fin, Buffer.alloc(0)),
    ...dataFrame(5, flags.syn | flags.fin, Buffer.from('b')),
    goAwayFrame(9, 0, 'no error'),
  ]);
  const expected = ['data 3 2 a', 'reset 7 6', 'increment 9 65536', 'data 3 1 ', 'data 5 3 b', 'goaway 9 0 no error'];
  for (const step of [bytes.length, 1, 7]) assert.deepEqual(read(bytes, step), { frames: expected, fault: undefined });
});

test('a payload comes as it arrives, with SYN on its first piece and FIN on its last', () => {
  const bytes = Buffer.concat(dataFrame(3, flags.syn | flags.fin, Buffer.from('abcd')));
  assert.deepEqual(read(bytes, 10).frames, ['data 3 2 ab', 'data 3 1 cd']);
});

test('the top bit of a stream id is ignored', () => {
  const frame = resetFrame(5, 4);
  frame[4] = 0x80;
  assert.deepEqual(read(frame).frames, ['reset 5 4']);
});

const malformed: readonly (readonly [string, Buffer, FrameFault])[] = [
  ['an unknown type', header(4, 0, 3, 0), { name: 'unknown type', code: 1 }],
  ['an unknown flag of DATA', header(1, 4, 3, 0), { name: 'unknown flags', code: 1 }],
  ['a flag on a frame that has none', header(2, 1, 3, 4), { name: 'unknown flags', code: 1 }],
  ['DATA without a stream', header(1, 0, 0, 1), { name: 'stream id missing', code: 1 }],
  ['RST without a stream', header(0, 0, 0, 4), { name: 'stream id missing', code: 1 }],
  ['WNDINC without a stream', header(2, 0, 0, 4), { name: 'stream id missing', code: 1 }],
  ['GOAWAY with a stream', header(3, 0, 3, 8), { name: 'stream id given', code: 1 }],
  ['RST of another length', header(0, 0, 3, 5), { name: 'wrong length', code: 8 }],
  ['WNDINC of another length', header(2, 0, 3, 0), { name: 'wrong length', code: 8 }],
  ['a short GOAWAY', header(3, 0, 0, 7), { name: 'wrong length', code: 8 }],
  ['a GOAWAY with a long text', header(3, 0, 0, 5000), { name: 'wrong length', code: 8 }],
  ['an increment of zero', windowIncrementFrame(3, 0), { name: 'increment of zero', code: 1 }],
];

for (const [what, bytes, fault] of malformed) {
  test(`${what} is a fault`, () => {
    assert.deepEqual(read(bytes), { frames: [], fault });
    assert.deepEqual(read(bytes, 1), { frames: [], fault });
  });
}

test('a reader that is stopped takes nothing more', () => {
  const seen: number[] = [];
  const reader = new FrameReader({
    data: () => {},
    reset: (id) => {
      seen.push(id);
      reader.stop();
    },
    windowIncrement: () => {},
    goAway: () => {},
  });
  reader.push(Buffer.concat([resetFrame(3, 0), resetFrame(5, 0)]));
  assert.deepEqual(seen, [3]);
});
