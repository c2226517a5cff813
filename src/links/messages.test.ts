import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { typedStart } from '../agents/wire/stream-types.ts';
import { openRecorded, startSide } from '../../test/agents/support/mux-peers.ts';
import { until } from '../../test/e2e/gateway/support/until.ts';
import { socketPair } from '../../test/support/linked.ts';
import { LinkServer } from './link-server.ts';
import { Link } from './link.ts';
import { maxMessageBytes, messagesType } from './messages.ts';
import { openNothing } from './stream-request.ts';

const quiet = { maxUnreadBytes: 2 ** 20, overrun: () => {}, closed: () => {} };

async function listening(t: TestContext, heard?: (message: unknown) => void) {
  const [near, far] = await socketPair(t);
  const server = new LinkServer(far, { ...quiet, open: openNothing, heard });
  return { near, server };
}

test('messages come in order, small ones and large ones, and are no streams of visitors', async (t) => {
  const heard: unknown[] = [];
  const { near } = await listening(t, (message) => heard.push(message));
  const link = new Link(near, quiet);
  let closings = 0;
  const sender = link.openMessages(() => closings++);
  assert.ok(sender);
  const sent = [{}, { text: 'ä'.repeat(400_000) }, { list: [1, 2] }, { text: 'x'.repeat(1_000_000) }, { end: true }];
  for (const message of sent) sender.send(message);
  assert.equal(sender.isReady, false, 'much waits');
  await until(() => heard.length === sent.length, 'all are heard');
  assert.deepEqual(heard, sent);
  await until(() => sender.isReady, 'it takes more');
  assert.deepEqual([link.streams, closings], [0, 0]);
  link.close('done');
  assert.equal(closings, 1);
});

test('a side that takes no messages refuses them, and its link stays open', async (t) => {
  const { near } = await listening(t);
  const link = new Link(near, quiet);
  const closed = Promise.withResolvers<void>();
  link.openMessages(closed.resolve);
  await closed.promise;
  assert.equal(link.isOpen, true);
  link.close('done');
  assert.equal(
    link.openMessages(() => {}),
    undefined,
  );
});

test('what is no message, or too long, or not understood, ends the stream', async (t) => {
  const { near } = await listening(t, () => {
    throw new Error('not understood');
  });
  const client = startSide(near, {
    role: 'client',
    maxLocalStreams: 100,
    maxRemoteStreams: 100,
    maxUnreadBytes: 2 ** 20,
    carriesAcks: false,
  });
  const length = (bytes: number): Buffer => {
    const head = Buffer.alloc(4);
    head.writeUInt32BE(bytes);
    return head;
  };
  for (const body of [
    length(maxMessageBytes + 1),
    Buffer.concat([length(3), Buffer.from('{x}')]),
    Buffer.concat([length(2), Buffer.from('{}')]),
  ]) {
    const recorder = openRecorded(client, typedStart(messagesType, body));
    await until(() => recorder.fault !== 'open', 'it is reset');
    assert.notEqual(recorder.fault, undefined);
  }
});
