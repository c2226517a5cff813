import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Socket } from 'node:net';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';

import { resetSocket } from './upstream.ts';

const moments: readonly [name: string, prepare: (socket: Socket) => Promise<void> | void][] = [
  ['that is idle', () => {}],
  ['whose end is on its way', (socket) => void socket.end()],
  ['whose end follows data', (socket) => void socket.end('x'.repeat(1_000_000))],
  ['whose end waits behind data that nobody takes', (socket) => void socket.end('x'.repeat(50_000_000))],
  [
    'whose end is out',
    async (socket) => {
      socket.end();
      await once(socket, 'finish');
    },
  ],
  [
    'whose end was asked for a moment ago',
    async (socket) => {
      socket.end();
      await nextTurn();
    },
  ],
];

for (const [name, prepare] of moments) {
  test(`a socket ${name} is gone after a reset`, async () => {
    const server = createServer({ allowHalfOpen: true }, (socket) => void socket.pause().on('error', () => {}));
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    // A server that listens on a port has an address of this form.
    const { port } = server.address() as AddressInfo;
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true }).on('error', () => {});
    await once(socket, 'connect');
    await prepare(socket);
    const closed = new Promise((resolve) => socket.on('close', () => resolve('closed')));
    resetSocket(socket);
    const late = new Promise((resolve) => setTimeout(resolve, 60_000, 'still open').unref());
    assert.equal(await Promise.race([closed, late]), 'closed');
    server.close();
  });
}
