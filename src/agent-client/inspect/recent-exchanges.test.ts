import assert from 'node:assert/strict';
import { test } from 'node:test';

import { maxBodyBytes } from './exchange.ts';
import { RecentExchanges } from './recent-exchanges.ts';

const visitor = { visitor: '192.0.2.1:1', replayOf: undefined };
const head = (path: string): string => `POST ${path} HTTP/1.1\r\nHost: a`;
const mebibyte = 1024 * 1024;

test('the oldest go when there are too many', () => {
  const recent = new RecentExchanges({ exchanges: 3, bytes: mebibyte });
  const recorder = recent.recorder(visitor);
  for (const path of ['/a', '/b', '/c', '/d']) recorder.begin(head(path));
  assert.deepEqual(
    recent.all.map(({ request }) => request.line.split(' ')[1]),
    ['/d', '/c', '/b'],
  );
});

test('a thousand connections that send without end hold no more than the bound, piece by piece', () => {
  const recent = new RecentExchanges({ exchanges: 5000, bytes: 4 * mebibyte });
  const records = Array.from({ length: 1000 }, (_, at) => recent.recorder(visitor).begin(head(`/${at}`)));
  const piece = Buffer.alloc(4096, 'x');
  for (let round = 0; round < 40; round++)
    for (const record of records) {
      record.requestBody(piece);
      record.answerBody(piece);
      assert.ok(recent.bytes <= 4 * mebibyte, `${recent.bytes}`);
    }
  const held = recent.all.reduce(
    (sum, { requestKept, answerKept }) => sum + requestKept.capacity + answerKept.capacity,
    0,
  );
  assert.ok(held > 0 && held <= 4 * mebibyte);
  assert.ok(records.filter((record) => recent.all.some((each) => each === record)).length < 100, 'the oldest are gone');
});

test('of a body so much is kept, and all of it is counted', () => {
  const recent = new RecentExchanges();
  const record = recent.recorder(visitor).begin(head('/a'));
  for (let at = 0; at < maxBodyBytes + 10; at++) record.requestBody(Buffer.from('x'));
  const [exchange] = recent.all;
  assert.deepEqual([exchange?.requestBytes, exchange?.requestKept.length], [maxBodyBytes + 10, maxBodyBytes]);
  assert.ok((exchange?.requestKept.capacity ?? 0) <= maxBodyBytes);
});

test('heads count too, and what is forgotten takes nothing more', () => {
  const recent = new RecentExchanges({ exchanges: 5000, bytes: mebibyte });
  const recorder = recent.recorder(visitor);
  for (let at = 0; at < 100; at++) recorder.begin(`${head('/a')}\r\nX: ${'x'.repeat(60_000)}`);
  assert.ok(recent.all.length < 10);
  const record = recorder.begin(head('/b'));
  recent.clear();
  assert.deepEqual([recent.all.length, recent.bytes], [0, 0]);
  record.answer('HTTP/1.1 200 OK');
  record.answerBody(Buffer.alloc(1000));
  assert.equal(recent.bytes, 0);
});

test('a piece is copied: its memory is used again', () => {
  const recent = new RecentExchanges();
  const record = recent.recorder(visitor).begin(head('/a'));
  const piece = Buffer.from('first');
  record.answerBody(piece);
  piece.fill('y');
  assert.equal(recent.all[0]?.answerKept.bytes.toString(), 'first');
});
