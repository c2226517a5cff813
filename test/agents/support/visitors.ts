import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { pipeline } from 'node:stream';
import type { TestContext } from 'node:test';

import type { AgentTunnel } from '../../../src/agents/server/agent-tunnel.ts';

/** A port whose connections are carried through the tunnel: the plainest form of visitors. */
export async function visitorPort(t: TestContext, tunnel: AgentTunnel): Promise<number> {
  const { request } = tunnel;
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    socket.on('error', () => {});
    const stream = tunnel.openDuplex({
      clientAddr: `127.0.0.1:${socket.remotePort}`,
      proto: request.kind === 'endpoint' ? request.proto : 'https',
      edgeType: request.kind === 'endpoint' ? 'undefined' : 'https',
      passthroughTls: false,
    });
    if (stream === undefined) {
      socket.end('HTTP/1.1 503 Service Unavailable\r\ncontent-length: 0\r\nconnection: close\r\n\r\n');
      return;
    }
    pipeline(socket, stream, () => {});
    pipeline(stream, socket, () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => server.close());
  // A server that listens on a port has an address of this form.
  return (server.address() as AddressInfo).port;
}
