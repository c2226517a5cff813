import type { Socket } from 'node:net';

import type { FastifyInstance } from 'fastify';

/** Long enough for the largest call. */
const graceMs = 10_000;

/**
 * Lets calls under way finish when the server closes, and nothing else hold it. Node counts a connection as idle only
 * once it has had a request: one that never sends any would keep the server open for ever.
 */
export function closeConnectionsInTime(app: FastifyInstance, graceAfterMs: number = graceMs): void {
  const unused = new Set<Socket>();
  app.server.on('connection', (socket) => {
    unused.add(socket);
    socket.once('close', () => unused.delete(socket));
  });
  app.server.on('request', ({ socket }) => unused.delete(socket));
  app.addHook('preClose', (done) => {
    for (const socket of unused) socket.destroy();
    setTimeout(() => {
      app.server.closeAllConnections();
    }, graceAfterMs).unref();
    done();
  });
}
