import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { test } from 'node:test';

import { binaryHeader, closeFrame, pongFrame, WebsocketFault, WebsocketReader } from './websocket-frames.ts';
import type { WebsocketEvent } from './websocket-frames.ts';

interface Form {
  readonly fin?: boolean;
  readonly masked?: boolean;
  readonly reserved?: number;
  /** Bytes of the length that follow the first; chosen by the length if undefined. */
  readonly lengthBytes?: 0 | 2 | 8;
}

/** Writes a frame as a client does, or as none may. */
function frame(opcode: number, payload: Buffer | string, form: Form = {}): Buffer {
  const { fin = true, masked = true, reserved = 0 } = form;
  const bytes = Buffer.from(payload);
  const lengthBytes = form.lengthBytes ?? (bytes.length < 126 ? 0 : bytes.length < 65_536 ? 2 : 8);
  const short = { 0: bytes.length, 2: 126, 8: 127 }[lengthBytes];
  const length = Buffer.alloc(lengthBytes);
  if (lengthBytes > 0) length.writeUIntBE(bytes.length, Math.max(0, lengthBytes - 6), Math.min(6, lengthBytes));
  const first = (fin ? 0x80 : 0) | (reserved << 4) | opcode;
  const mask = randomBytes(masked ? 4 : 0);
  const body = masked ? bytes.map((byte, at) => byte ^ (mask[at & 3] ?? 0)) : bytes;
  return Buffer.concat([Buffer.of(first, short | (masked ? 0x80 : 0)), length, mask, body]);
}

function readAll(bytes: Buffer, pieces = bytes.length): readonly WebsocketEvent[] {
  const reader = new WebsocketReader();
  const events: WebsocketEvent[] = [];
  for (let at = 0; at < bytes.length; at += pieces) events.push(...reader.read(bytes.subarray(at, at + pieces)));
  return events;
}

function dataOf(events: readonly WebsocketEvent[]): Buffer {
  return Buffer.concat(events.flatMap((event) => (event.kind === 'data' ? event.bytes : [])));
}

test('the masked frame of RFC 6455, 5.7, is read', () => {
  const events = readAll(Buffer.from('818537fa213d7f9f4d5158', 'hex'));
  assert.deepEqual(events, [{ kind: 'data', bytes: Buffer.from('Hello') }]);
});

test('frames of every length are read, however they are cut', () => {
  for (const length of [0, 1, 125, 126, 127, 65_535, 65_536, 70_000]) {
    const payload = randomBytes(length);
    const bytes = Buffer.concat([frame(2, payload), frame(9, 'ping'), frame(8, Buffer.of(0x03, 0xe8))]);
    for (const pieces of length > 1000 ? [1000, bytes.length] : [1, 2, 3, 7, bytes.length]) {
      const events = readAll(bytes, pieces);
      assert.deepEqual(dataOf(events), payload);
      assert.deepEqual(events.slice(-2), [
        { kind: 'ping', payload: Buffer.from('ping') },
        { kind: 'close', code: 1000 },
      ]);
    }
  }
});

test('data is given out before its frame is whole', () => {
  const reader = new WebsocketReader();
  const bytes = frame(2, 'abcdef');
  assert.equal(dataOf(reader.read(bytes.subarray(0, -3))).toString(), 'abc');
  assert.equal(dataOf(reader.read(bytes.subarray(-3))).toString(), 'def');
});

test('control frames may stand inside a message in parts', () => {
  const bytes = [
    frame(1, 'a', { fin: false }),
    frame(10, ''),
    frame(0, 'b', { fin: false }),
    frame(9, 'p'),
    frame(0, 'c'),
  ];
  const events = readAll(Buffer.concat(bytes));
  assert.equal(dataOf(events).toString(), 'abc');
  assert.equal(events.length, 4);
});

test('what breaks the protocol is refused', () => {
  const broken = {
    'not masked': frame(2, 'a', { masked: false }),
    'a reserved bit': frame(2, 'a', { reserved: 4 }),
    'an unknown kind': frame(3, 'a'),
    'an unknown control': frame(11, ''),
    'a control in parts': frame(9, 'a', { fin: false }),
    'a long control': frame(9, 'a'.repeat(126)),
    'a part without a start': frame(0, 'a'),
    'a start inside a message': Buffer.concat([frame(2, 'a', { fin: false }), frame(2, 'b')]),
    'a length of two bytes too many': frame(2, 'a', { lengthBytes: 2 }),
    'a length of eight bytes too many': frame(2, 'a'.repeat(200), { lengthBytes: 8 }),
    'a length beyond all': Buffer.concat([Buffer.of(0x82, 0xff), Buffer.alloc(8, 0xff), Buffer.alloc(4)]),
    'half a code': frame(8, 'a'),
    'a code that is not sent': frame(8, Buffer.of(1005 >> 8, 1005 & 0xff)),
  };
  for (const [name, bytes] of Object.entries(broken)) assert.throws(() => readAll(bytes), WebsocketFault, name);
});

test('bytes behind a close are dropped', () => {
  assert.deepEqual(readAll(Buffer.concat([frame(8, ''), frame(2, 'late')])), [{ kind: 'close', code: 1000 }]);
});

test('frames of the server are not masked, and have the shortest length', () => {
  assert.deepEqual(binaryHeader(5), Buffer.of(0x82, 5));
  assert.deepEqual(binaryHeader(256), Buffer.from('827e0100', 'hex'));
  assert.deepEqual(binaryHeader(65_536), Buffer.from('827f0000000000010000', 'hex'));
  assert.deepEqual(pongFrame(Buffer.from('Hello')), Buffer.from('8a0548656c6c6f', 'hex'));
  assert.deepEqual(closeFrame(1002), Buffer.from('880203ea', 'hex'));
});
