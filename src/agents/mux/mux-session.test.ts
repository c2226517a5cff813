import assert from 'node:assert/strict';
import { duplexPair } from 'node:stream';
import { suite, test } from 'node:test';

import { dataFrame, flags, goAwayFrame, resetFrame, windowBytes, windowIncrementFrame } from '../wire/frame.ts';
import { until } from '../../../test/e2e/gateway/support/until.ts';
import {
  openRecorded,
  serverOptions,
  startPair,
  startRawPeer,
  startSide,
} from '../../../test/agents/support/mux-peers.ts';

const { syn, fin } = flags;
const none = Buffer.alloc(0);

suite('streams', () => {
  test('either side opens them, with ids of its own', async () => {
    const { server, client } = startPair();
    const ours = openRecorded(server, 'to the client');
    const theirs = openRecorded(client, 'to the server');
    await until(() => server.accepted.length === 1 && client.accepted.length === 1, 'both accepted');
    assert.deepEqual([ours.stream?.id, theirs.stream?.id], [2, 3]);
    assert.equal(client.accepted[0]?.text, 'to the client');
    assert.equal(server.accepted[0]?.text, 'to the server');
  });

  test('ids start anew after the last one, where the peer is our own code, and leave out those in use', async () => {
    const { server, client } = startPair({ lastId: 7 });
    const opened = Array.from({ length: 3 }, () => openRecorded(server, 'x'));
    opened[1]?.stream?.reset();
    const fourth = openRecorded(server, 'fourth');
    assert.deepEqual(
      [...opened, fourth].map(({ stream }) => stream?.id),
      [2, 4, 6, 4],
    );
    await until(() => client.accepted[3]?.text === 'fourth', 'all accepted');
    assert.equal(server.end, undefined);
  });

  test('end one direction at a time', async () => {
    const { server, client } = startPair();
    const ours = openRecorded(server, 'question');
    ours.stream?.end();
    await until(() => client.accepted[0]?.hasEnded === true, 'the end');
    client.accepted[0]?.stream?.write(Buffer.from('ans'));
    client.accepted[0]?.stream?.end(Buffer.from('wer'));
    await until(() => ours.fault === undefined, 'closed');
    assert.equal(ours.text, 'answer');
    assert.equal(client.accepted[0]?.fault, undefined);
    assert.equal(server.mux.localStreams, 0);
    assert.equal(server.mux.heldBytes, 0);
  });

  test('a reset breaks both directions, and the session lives', async () => {
    const { server, client } = startPair();
    const [first, second] = [openRecorded(server, 'a'), openRecorded(server, 'b')];
    await until(() => client.accepted.length === 2, 'accepted');
    client.accepted[0]?.stream?.reset(7);
    await until(() => first.fault !== 'open', 'reset');
    assert.deepEqual(first.fault, { code: 7, by: 'peer' });
    assert.deepEqual(client.accepted[0]?.fault, { code: 7, by: 'us' });
    assert.equal(first.stream?.write(Buffer.from('x')), false);
    second.stream?.write(Buffer.from('c'));
    await until(() => client.accepted[1]?.text === 'bc', 'the other stream goes on');
  });

  test('more than allowed are not opened', () => {
    const { server } = startPair({ maxLocalStreams: 2 });
    openRecorded(server, 'a');
    const second = openRecorded(server, 'b');
    assert.equal(server.mux.canOpen, false);
    assert.equal(openRecorded(server, 'c').stream, undefined);
    second.stream?.reset();
    assert.ok(openRecorded(server, 'd').stream !== undefined);
  });

  test('all frames of one turn leave in one write', async () => {
    const [left, right] = duplexPair();
    const server = startSide(left, { ...serverOptions, carriesAcks: false });
    let chunks = 0;
    right.on('data', () => chunks++);
    for (let count = 0; count < 20; count++) openRecorded(server, 'x').stream?.end();
    await until(() => chunks > 0, 'a chunk');
    assert.equal(chunks, 1);
  });

  test('bytes that came are acknowledged by a frame, at once, if there is no other', async () => {
    const peer = startRawPeer({ carriesAcks: true });
    peer.send(dataFrame(3, syn, Buffer.from('abcd')));
    await until(() => peer.frames.length > 0, 'a frame');
    assert.deepEqual(peer.frames, ['increment 1 1']);
  });
});

suite('what a peer may not do', () => {
  const fatal: readonly (readonly [string, readonly (readonly Buffer[])[], string])[] = [
    ['an id of our own', [dataFrame(2, syn, none)], 'goaway 0 1 stream id of the other side'],
    ['an id that is in use', [dataFrame(3, syn, none), dataFrame(3, syn, none)], 'goaway 3 1 stream id in use'],
    ['a malformed frame', [[Buffer.from('0000057000000003', 'hex')]], 'goaway 0 1 unknown type'],
  ];
  for (const [what, frames, answer] of fatal) {
    test(`${what} ends the session with a reason`, async () => {
      const peer = startRawPeer();
      peer.send(...frames);
      await until(() => peer.side.end !== undefined && peer.socket.readableEnded, 'the end');
      assert.deepEqual(peer.frames, [answer]);
      assert.equal(peer.side.end?.by, 'us');
      assert.ok(answer.endsWith(peer.side.end?.text ?? '-'));
    });
  }

  test('DATA for a stream that is not there is answered with one RST, and empty FIN with nothing', async () => {
    const peer = startRawPeer();
    const some = dataFrame(9, 0, Buffer.from('x'));
    peer.send(
      dataFrame(7, fin, none),
      some,
      some,
      resetFrame(11, 0),
      windowIncrementFrame(13, 1),
      dataFrame(9, fin, none),
    );
    peer.send(dataFrame(15, 0, Buffer.from('x')));
    await until(() => peer.frames.length === 2, 'answers');
    assert.deepEqual(peer.frames, ['reset 9 4', 'reset 15 4']);
    assert.equal(peer.side.end, undefined);
  });

  test('FIN may come again, but no bytes after it', async () => {
    const peer = startRawPeer();
    peer.send(dataFrame(3, syn | fin, Buffer.from('a')), dataFrame(3, fin, none), dataFrame(3, fin, none));
    await until(() => peer.side.accepted[0]?.hasEnded === true, 'the end');
    assert.equal(peer.side.accepted[0]?.fault, 'open');
    peer.send(dataFrame(3, 0, Buffer.from('b')));
    await until(() => peer.frames.length > 0, 'an answer');
    assert.deepEqual(peer.frames, ['reset 3 4']);
    assert.equal(peer.side.accepted[0]?.text, 'a');
  });

  test('bytes beyond the window reset the stream, and the session lives', async () => {
    const peer = startRawPeer({}, true);
    peer.send(dataFrame(3, syn, Buffer.alloc(windowBytes)), dataFrame(3, 0, Buffer.from('x')), dataFrame(5, syn, none));
    await until(() => peer.side.accepted.length === 2, 'the other stream');
    await until(() => peer.frames.length > 0, 'the answer');
    assert.deepEqual(peer.frames, ['reset 3 3']);
    assert.equal(peer.side.mux.heldBytes, 0);
  });

  test('streams above the limit are refused one by one', async () => {
    const peer = startRawPeer({ maxRemoteStreams: 1 });
    peer.send(
      dataFrame(3, syn, Buffer.from('a')),
      dataFrame(5, syn, Buffer.from('b')),
      dataFrame(5, 0, Buffer.from('c')),
    );
    await until(() => peer.frames.length > 0, 'the answer');
    assert.deepEqual(peer.frames, ['reset 5 5']);
    peer.send(resetFrame(3, 0), dataFrame(7, syn, Buffer.from('d')));
    await until(() => peer.side.accepted[1]?.text === 'd', 'room again');
  });

  test('a peer that makes us answer but does not read is left', async () => {
    const [left, right] = duplexPair();
    const side = startSide(left, { ...serverOptions, carriesAcks: false });
    const flood = Buffer.concat(
      Array.from({ length: 2000 }, (_, at) => [...dataFrame(1001 + 2 * at, 0, Buffer.from('x'))]).flat(),
    );
    for (let round = 0; round < 100 && side.end === undefined; round++) {
      right.write(flood);
      await new Promise((resolve) => {
        setImmediate(resolve);
      });
    }
    assert.equal(side.end?.text, 'the peer does not read');
  });
});

suite('the end of a session', () => {
  test('GOAWAY of the peer closes its streams and the connection', async () => {
    const peer = startRawPeer();
    const ours = openRecorded(peer.side, 'x');
    peer.send(goAwayFrame(0, 0, 'no error'));
    await until(() => peer.side.end !== undefined, 'the end');
    assert.deepEqual(peer.side.end, { by: 'peer', code: 0, text: 'no error' });
    assert.deepEqual(ours.fault, { code: 14, by: 'session' });
    assert.equal(peer.side.mux.canOpen, false);
    await until(() => peer.socket.readableEnded, 'the connection');
  });

  test('close() says GOAWAY last, after what was written, and closes the connection', async () => {
    const peer = startRawPeer();
    openRecorded(peer.side, 'x').stream?.end(Buffer.from('y'));
    peer.side.mux.close(6, 'bye');
    await until(() => peer.socket.readableEnded, 'the connection');
    assert.deepEqual(peer.frames, ['data 2 2 x', 'data 2 1 y', 'goaway 0 6 bye']);
    assert.deepEqual(peer.side.end, { by: 'us', code: 6, text: 'bye' });
  });

  test('a connection that breaks ends the session', async () => {
    const peer = startRawPeer();
    const ours = openRecorded(peer.side, 'x');
    peer.socket.end();
    await until(() => peer.side.end !== undefined, 'the end');
    assert.deepEqual(peer.side.end, { by: 'peer', code: 15, text: 'the peer closed the connection' });
    assert.deepEqual(ours.fault, { code: 14, by: 'session' });
  });
});
