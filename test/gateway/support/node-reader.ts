import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';

import { portOf } from './https-upstream.ts';

interface ReadRequest {
  readonly method: string;
  /** Without scheme and host, where the target has them. */
  readonly target: string;
  /** Body in Latin-1. */
  readonly body: string;
}

/** Node's own server, which reads requests and answers nothing. */
export interface NodeReader extends AsyncDisposable {
  /** Returns the requests that it reads whole in these bytes, in Latin-1. */
  read(bytes: string): Promise<readonly ReadRequest[]>;
}

export async function startNodeReader(): Promise<NodeReader> {
  let requests: (ReadRequest & { isWhole: boolean })[] = [];
  const server = createServer({ requireHostHeader: false, maxHeaderSize: 65_536 });
  const onRequest = (request: import('node:http').IncomingMessage): void => {
    const { method = '', url = '' } = request;
    const target = url.replace(/^https:\/\/[^/?#]*/i, '') || '/';
    const read = { method, target, body: '', isWhole: false };
    requests.push(read);
    request.on('data', (chunk: Buffer) => (read.body += chunk.toString('latin1')));
    request.on('end', () => (read.isWhole = true));
    // A broken body ends the connection.
    request.on('error', () => {});
  };
  server.on('request', onRequest).on('checkContinue', onRequest).on('checkExpectation', onRequest);
  // A request for another protocol is a request too; what follows is none.
  server.on('upgrade', (request, socket) => {
    onRequest(request);
    const read = requests.at(-1);
    if (read !== undefined) read.isWhole = true;
    socket.destroy();
  });
  server.on('clientError', (_error, socket) => void socket.destroy());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    async read(bytes) {
      requests = [];
      const socket = connect(portOf(server), '127.0.0.1');
      socket.on('error', () => {});
      socket.end(bytes, 'latin1');
      socket.resume();
      await once(socket, 'close');
      return requests.filter(({ isWhole }) => isWhole).map(({ method, target, body }) => ({ method, target, body }));
    },
    async [Symbol.asyncDispose]() {
      server.close();
      server.closeAllConnections();
      await once(server, 'close').catch(() => {});
    },
  };
}
