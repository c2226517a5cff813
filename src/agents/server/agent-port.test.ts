import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { test } from 'node:test';

import { AgentPort } from './agent-port.ts';

const listen = { host: '127.0.0.1', port: 0 };

async function visit(port: number): Promise<Socket> {
  const socket = connect(port, listen.host);
  await once(socket, 'connect');
  return socket.on('error', () => {});
}

/** Resolves with the sockets once there are so many. */
function collect(port: AgentPort, count: number): Promise<readonly Socket[]> {
  const { promise, resolve } = Promise.withResolvers<readonly Socket[]>();
  const served: Socket[] = [];
  port.serve((socket) => {
    if (served.push(socket) === count) resolve(served);
  }, assert.fail);
  return promise;
}

test('agents that come before they are served wait, and are served in the order in which they came', async () => {
  using port = await AgentPort.open({ listen, maxWaiting: 10 });
  const early = [await visit(port.port), await visit(port.port)];
  const served = collect(port, 3);
  const late = await visit(port.port);
  const ports = (await served).map(({ remotePort }) => remotePort);
  assert.deepEqual(
    ports,
    [...early, late].map(({ localPort }) => localPort),
  );
  for (const socket of await served) socket.destroy();
});

test('of more than may wait the oldest goes', async () => {
  using port = await AgentPort.open({ listen, maxWaiting: 1 });
  const first = await visit(port.port);
  const gone = once(first, 'close');
  const second = await visit(port.port);
  await gone;
  const [served] = await collect(port, 1);
  assert.equal(served?.remotePort, second.localPort);
  served?.destroy();
});

test('those that come when no more are served wait until it is closed', async () => {
  const port = await AgentPort.open({ listen, maxWaiting: 10 });
  port.serve(() => assert.fail('served'), assert.fail);
  port.hold();
  const late = await visit(port.port);
  const gone = once(late, 'close');
  // Once this one is there, the other one has been taken too.
  await visit(port.port);
  port[Symbol.dispose]();
  await gone;
});
