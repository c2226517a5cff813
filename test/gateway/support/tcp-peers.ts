import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';
import type { TestContext } from 'node:test';

import { until } from './tcp-engine.ts';

/** A client or an upstream connection, with all data it received. */
export class Peer {
  readonly socket: Socket;
  ended = false;
  /** Code of the error that broke the connection. */
  broken: string | undefined;
  #received: Buffer[] = [];

  constructor(socket: Socket) {
    this.socket = socket;
    socket.on('data', (chunk) => this.#received.push(chunk));
    socket.on('end', () => (this.ended = true));
    socket.on('error', (error: NodeJS.ErrnoException) => (this.broken = error.code ?? error.message));
  }

  get text(): string {
    return Buffer.concat(this.#received).toString('latin1');
  }

  async receives(text: string): Promise<void> {
    await until(() => this.text === text || this.broken !== undefined, `received ${JSON.stringify(text)}`);
    if (this.text !== text) throw new Error(`received ${JSON.stringify(this.text)}, then ${this.broken}`);
  }

  async isReset(): Promise<void> {
    await until(() => this.broken !== undefined || this.ended, 'the connection is reset');
    if (this.broken !== 'ECONNRESET') throw new Error(`not reset: ${this.broken ?? 'it ended in order'}`);
  }

  async seesEnd(): Promise<void> {
    await until(() => this.ended || this.broken !== undefined, 'the other side ended');
    if (!this.ended) throw new Error(`broke: ${this.broken}`);
  }
}

export interface Upstream {
  readonly port: number;
  readonly server: Server;
  /** Connections that arrived. */
  readonly peers: readonly Peer[];
}

export type Behaviour = (socket: Socket) => void;

const echo: Behaviour = (socket) => {
  socket.on('data', (chunk) => socket.write(chunk)).on('end', () => socket.end());
};

export const silent: Behaviour = () => {};

export async function startUpstream(t: TestContext, behaviour: Behaviour = echo): Promise<Upstream> {
  const peers: Peer[] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    peers.push(new Peer(socket));
    behaviour(socket);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.close();
    for (const { socket } of peers) socket.destroy();
  });
  return { port: portOf(server), server, peers };
}

export function portOf(server: Server): number {
  // The address of a TCP server that listens has this form.
  return (server.address() as AddressInfo).port;
}

export interface ClientOptions {
  readonly from?: string;
  readonly host?: string;
}

export function dial(
  t: TestContext,
  port: number,
  { from = '127.0.0.1', host = '127.0.0.1' }: ClientOptions = {},
): Peer {
  const socket = connect({ host, port, localAddress: from, allowHalfOpen: true });
  t.after(() => socket.destroy());
  return new Peer(socket);
}

/** Connects, sends a word, and waits until an echoing upstream returns it. */
export async function dialAndEcho(t: TestContext, port: number, options: ClientOptions = {}): Promise<Peer> {
  const client = dial(t, port, options);
  client.socket.write('hello');
  await client.receives('hello');
  return client;
}
