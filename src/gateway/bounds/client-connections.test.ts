import assert from 'node:assert/strict';
import { once } from 'node:events';
import { Socket } from 'node:net';
import { test } from 'node:test';
import type { TestContext } from 'node:test';

import { wideBounds } from '../../../test/gateway/support/bounds.ts';
import { Recorder } from '../../../test/gateway/support/tcp-engine.ts';
import { parseIp } from '../../lib/ip/address.ts';
import { ClientConnections } from './client-connections.ts';
import { reportBounds } from './report-bounds.ts';

function start(t: TestContext, bounds: Partial<typeof wideBounds>) {
  const seen = new Recorder();
  const reports = reportBounds(seen, seen.log);
  t.after(() => reports[Symbol.dispose]());
  const clients = new ClientConnections({ ...wideBounds, ...bounds }, reports);
  const source = parseIp('192.0.2.1');
  assert.ok(source);
  /** A connection, or undefined where it is refused. */
  const open = (peerTrusted = false): Socket | undefined => {
    const socket = new Socket();
    return clients.accept(socket)?.({ source, port: 1, peerTrusted }) === true ? socket : undefined;
  };
  const close = async (socket: Socket | undefined) => {
    assert.ok(socket);
    await once(socket.destroy(), 'close');
  };
  return { clients, open, close };
}

test('a source has its connections again when they are closed, and a trusted proxy has any number', async (t) => {
  const { open, close, clients } = start(t, { sourceConnections: 1 });
  for (let round = 0; round < 3; round++) {
    const first = open();
    assert.equal(open(), undefined);
    const proxied = [open(true), open(true)];
    for (const socket of [first, ...proxied]) await close(socket);
  }
  await new Promise(setImmediate);
  assert.equal(clients.count, 0);
});

test('idle connections make room before the bound is reached, and those that are told to close count until then', (t) => {
  const { clients, open } = start(t, { clientConnections: 10 });
  const asked: number[] = [];
  let idle = 2;
  clients.onFull((count) => {
    asked.push(count);
    const closed = Math.min(idle, count);
    idle -= closed;
    return closed;
  });
  const opened = Array.from({ length: 12 }, () => open());
  assert.equal(opened.filter((socket) => socket !== undefined).length, 10);
  assert.deepEqual(asked.slice(0, 2), [1, 1]);
});
