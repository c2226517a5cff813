import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { until } from '../../test/e2e/gateway/support/until.ts';
import { readDirectly } from './direct-reads.ts';

/** Both ends of so many connections. */
async function connections(context: TestContext, count: number): Promise<readonly (readonly [Socket, Socket])[]> {
  const server = createServer().listen(0, '127.0.0.1');
  context.after(() => server.close());
  await once(server, 'listening');
  // A listening TCP server has an address of this form.
  const { port } = server.address() as AddressInfo;
  const pairs: (readonly [Socket, Socket])[] = [];
  for (let at = 0; at < count; at++) {
    const client = connect(port, '127.0.0.1');
    const [accepted] = (await once(server, 'connection')) as [Socket];
    context.after(() => [client, accepted].forEach((socket) => socket.destroy()));
    pairs.push([client, accepted]);
  }
  return pairs;
}

/** Collects what is read, as a user who keeps it. */
function collect(socket: Socket) {
  const read = { text: '', direct: 0, events: 0 };
  const take = (bytes: Buffer) => void (read.text += bytes.toString('latin1'));
  const end = readDirectly(socket, (bytes) => {
    read.direct += 1;
    take(bytes);
  });
  socket.on('data', (bytes: Buffer) => {
    read.events += 1;
    take(bytes);
  });
  return { read, end };
}

test('what a socket reads comes without its stream, until that is ended', async (context) => {
  const [[client, accepted] = assert.fail()] = await connections(context, 1);
  const { read, end } = collect(accepted);
  client.write('one');
  await until(() => read.text === 'one', 'the first piece');
  assert.deepEqual([read.direct, read.events], [1, 0]);
  end();
  client.write('two');
  await until(() => read.text === 'onetwo', 'the second piece');
  assert.deepEqual([read.direct, read.events], [1, 1]);
  const ended = once(accepted, 'end');
  client.end();
  await ended;
});

test('what waits in a paused stream stays as it was sent, and comes before what is read later', async (context) => {
  const [[client, accepted] = assert.fail(), [busy, other] = assert.fail()] = await connections(context, 2);
  const kept = collect(accepted);
  const beside = collect(other);
  client.write('1');
  await until(() => kept.read.text === '1', 'it reads');
  // Node has begun a read that the pause does not take back; the stream keeps it.
  accepted.pause();
  accepted.push(Buffer.from('2'));
  client.write('3');
  busy.write('x'.repeat(100_000));
  await until(() => beside.read.text.length === 100_000, 'another connection has read into the same memory');
  accepted.resume();
  await until(() => kept.read.text.length === 3, 'all has come');
  assert.equal(kept.read.text, '123');
});

test('a piece stays as it was, whatever is read later', async (context) => {
  const [[client, accepted] = assert.fail(), [busy, other] = assert.fail()] = await connections(context, 2);
  const pieces: Buffer[] = [];
  readDirectly(accepted, (bytes) => void pieces.push(bytes));
  accepted.resume();
  const beside = collect(other);
  client.write('kept');
  await until(() => pieces.length === 1, 'the piece');
  busy.write('x'.repeat(100_000));
  await until(() => beside.read.text.length === 100_000, 'another connection has read into the same memory');
  assert.equal(pieces[0]?.toString(), 'kept');
});

test('connections that send at once get their own bytes', async (context) => {
  const pairs = await connections(context, 8);
  const texts = pairs.map((_, at) => String(at).repeat(300_000));
  const users = pairs.map(([, accepted]) => collect(accepted));
  for (const [at, [client]] of pairs.entries()) client.write(texts[at] ?? '');
  for (const [at, { read }] of users.entries()) {
    await until(() => read.text.length === texts[at]?.length, 'all has come');
    assert.ok(read.text === texts[at], `connection ${at}`);
  }
});
