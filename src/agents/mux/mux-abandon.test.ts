import assert from 'node:assert/strict';
import { suite, test } from 'node:test';

import { dataFrame, flags } from '../wire/frame.ts';
import { until } from '../../../test/e2e/gateway/support/until.ts';
import { openRecorded, startRawPeer } from '../../../test/agents/support/mux-peers.ts';
import type { RawPeer } from '../../../test/agents/support/mux-peers.ts';

const { fin } = flags;

async function receive(peer: RawPeer, frame: string): Promise<void> {
  await until(
    () => peer.frames.includes(frame),
    () => peer.frames.join('; '),
  );
}

/** Streams whose user is gone, towards agents that take no notice of a reset. */
suite('an abandoned stream', () => {
  test('is reset where the agent obeys resets', async () => {
    const peer = startRawPeer();
    openRecorded(peer.side, 'first').stream?.abandon();
    await receive(peer, 'reset 2 6');
    assert.equal(peer.side.mux.localStreams, 0);
  });

  test('is ended where it does not, and counts until the agent ends it too', async () => {
    const peer = startRawPeer({ maxLocalStreams: 1 });
    peer.side.mux.ignoresResets = true;
    const recorder = openRecorded(peer.side, 'first');
    recorder.stream?.abandon();
    assert.deepEqual(recorder.fault, { code: 6, by: 'us' });
    await receive(peer, 'data 2 1 ');
    assert.deepEqual([peer.side.mux.localStreams, peer.side.mux.usedStreams, peer.side.mux.canOpen], [1, 0, false]);
    peer.send(dataFrame(2, 0, Buffer.from('too late')), dataFrame(2, fin, Buffer.alloc(0)));
    await until(() => peer.side.mux.localStreams === 0, 'it is gone');
    assert.equal(recorder.text, '');
    assert.equal(peer.side.mux.canOpen, true);
    assert.ok(!peer.frames.some((frame) => frame.startsWith('reset')), peer.frames.join('; '));
  });

  test('ends at once if the agent has ended it already, or was never told of it', async () => {
    const peer = startRawPeer();
    peer.side.mux.ignoresResets = true;
    const recorder = openRecorded(peer.side, 'first');
    recorder.isSlow = true;
    peer.send(dataFrame(2, fin, Buffer.from('unread')));
    await until(() => recorder.hasEnded, 'the end has come');
    recorder.stream?.abandon();
    assert.deepEqual([peer.side.mux.localStreams, peer.side.mux.heldBytes], [0, 0]);
    await receive(peer, 'data 2 1 ');
  });

  test('of an agent that goes on sending is reset after 1 MB, with a credit that wakes its writer', async () => {
    const peer = startRawPeer();
    peer.side.mux.ignoresResets = true;
    openRecorded(peer.side, 'first').stream?.abandon();
    await receive(peer, 'data 2 1 ');
    const piece = dataFrame(2, 0, Buffer.alloc(60_000));
    for (let sent = 0; sent < 20 && !peer.frames.includes('reset 2 6'); sent++) {
      peer.send(piece);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    await receive(peer, 'reset 2 6');
    assert.equal(peer.frames[peer.frames.indexOf('reset 2 6') + 1], 'increment 2 1');
    assert.deepEqual([peer.side.mux.localStreams, peer.side.mux.heldBytes], [0, 0]);
    assert.equal(peer.side.end, undefined);
  });
});
