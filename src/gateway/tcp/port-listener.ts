import { once } from 'node:events';
import { createServer } from 'node:net';
import type { Server, Socket } from 'node:net';

import type { TcpEdge } from './edge.ts';
import { resetSocket } from './upstream.ts';

export interface ListenSettings {
  readonly host: string;
  readonly reusePort: boolean;
  readonly accept: (listener: PortListener, socket: Socket) => void;
  /** Something went wrong on a listener that is open, such as too many open files. */
  readonly failed: (port: number, error: Error) => void;
}

const backlog = 4096;
/** Connections that may wait for a port's edge to come into force; more are reset. */
const heldLimit = 1024;

/** The listener of one port. Whose it is changes; the listener stays. */
export class PortListener {
  readonly port: number;
  /** Whom its connections belong to; undefined before the first swap that names the port. */
  edge: TcpEdge | undefined;
  /** Why it could not be opened. */
  fault: Error | undefined;
  readonly #settings: ListenSettings;
  readonly #held: Socket[] = [];
  #server: Server | undefined;
  #opening = false;
  #inForce = false;
  #closed = false;

  constructor(port: number, settings: ListenSettings) {
    this.port = port;
    this.#settings = settings;
  }

  /** Does not reject: what stops it is in `fault`. */
  async open(): Promise<void> {
    if (this.#opening || this.#server !== undefined) return;
    this.#opening = true;
    const { host, reusePort } = this.#settings;
    const server = createServer({ allowHalfOpen: true, pauseOnConnect: true, noDelay: true }, (socket) => {
      this.#arrive(socket);
    });
    try {
      server.listen({ host, port: this.port, backlog, reusePort, exclusive: true });
      await once(server, 'listening');
    } catch (error) {
      this.fault = error instanceof Error ? error : new Error(String(error));
      return;
    } finally {
      this.#opening = false;
    }
    this.fault = undefined;
    server.on('error', (error) => {
      this.#settings.failed(this.port, error);
    });
    this.#server = server;
    if (this.#closed) server.close();
  }

  /** From now on its connections are answered, first those that came while its edge was being prepared. */
  putInForce(): void {
    this.#inForce = true;
    for (const socket of this.#held.splice(0)) if (!socket.destroyed) this.#settings.accept(this, socket);
  }

  close(): void {
    this.#closed = true;
    this.edge = undefined;
    this.#server?.close();
    for (const socket of this.#held.splice(0)) resetSocket(socket);
  }

  #arrive(socket: Socket): void {
    // Whoever takes the socket looks at its `close`; without a listener an error would end the process.
    socket.on('error', ignore);
    if (this.#inForce) this.#settings.accept(this, socket);
    else if (this.#held.length < heldLimit) this.#held.push(socket);
    else resetSocket(socket);
  }
}

function ignore(): void {}
