import assert from 'node:assert/strict';
import { once } from 'node:events';
import { PassThrough } from 'node:stream';
import type { Duplex } from 'node:stream';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { chained } from '../../modules/answer-body.ts';
import { EncodedBody } from './encoded-body.ts';

function ignore(): void {}

/** A client that takes a number of chunks before it must drain. */
function setUp(takes: number, transform: Duplex = new PassThrough({ highWaterMark: 4 })) {
  const seen = { written: '', drains: 0, faults: [] as string[] };
  const body = new EncodedBody(
    transform,
    {
      write(chunk, written) {
        written();
        seen.written += chunk.toString();
        return --takes > 0;
      },
    },
    { onEncoderDrain: () => (seen.drains += 1), onEncoderFault: (cause) => seen.faults.push(cause.message) },
  );
  return { seen, transform, body };
}

test('a chunk comes out before the next one goes in', async () => {
  const { seen, body } = setUp(Infinity);
  body.write(Buffer.from('a'), ignore);
  await nextTurn();
  assert.equal(seen.written, 'a');
});

test('a client that does not read holds the upstream back until it does', async () => {
  const { seen, body } = setUp(1);
  let more = true;
  for (let chunks = 0; more && chunks < 100; chunks++) {
    more = body.write(Buffer.from('abcd'), ignore);
    await nextTurn();
  }
  assert.equal(more, false);
  assert.deepEqual([seen.written, seen.drains], ['abcd', 0]);
  body.resume();
  await nextTurn();
  assert.ok(seen.drains > 0);
});

test('the end comes after the last byte that the client takes', async () => {
  const { seen, body } = setUp(1);
  body.write(Buffer.from('abcd'), ignore);
  const ended = new Promise<string>((resolve) => body.end(Buffer.from('efgh'), () => resolve(seen.written)));
  await nextTurn();
  assert.equal(await Promise.race([ended, Promise.resolve('not yet')]), 'not yet');
  body.resume();
  assert.equal(await ended, 'abcdefgh');
});

test('a failure is reported once, and nothing after the body was dropped', async () => {
  const failing = setUp(Infinity);
  failing.transform.destroy(new Error('broken'));
  await nextTurn();
  assert.deepEqual(failing.seen.faults, ['broken']);
  const dropped = setUp(1);
  let ended = false;
  dropped.body.write(Buffer.from('a'), ignore);
  await nextTurn();
  dropped.body.end(Buffer.from('b'), () => (ended = true));
  dropped.body.destroy();
  dropped.body.resume();
  await nextTurn();
  assert.deepEqual([dropped.seen, ended], [{ written: 'a', drains: 0, faults: [] }, false]);
});

test('a body that two streams change, one behind the other, is dropped without a failure', async () => {
  const transform = chained(
    () => new PassThrough(),
    () => new PassThrough(),
  )();
  const { seen, body } = setUp(Infinity, transform);
  const closed = once(transform, 'close');
  body.write(Buffer.from('a'), ignore);
  await nextTurn();
  body.destroy();
  await closed;
  await nextTurn();
  assert.deepEqual(seen.faults, []);
});
