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

/** Connections that may wait to be accepted, as far as the system allows: a burst must not be dropped. */
const backlog = 4096;
/** Connections that may wait for a port's edge to come into force; more are reset. */
const heldLimit = 1024;

/** The listener of one port. It stays open while the port moves from one edge to another. */
export class PortListener {
  readonly port: number;
  /** The edge that its connections belong to; undefined before the first swap that names the port. */
  edge: TcpEdge | undefined;
  /** The error that kept it from being opened. */
  fault: Error | undefined;
  readonly #settings: ListenSettings;
  readonly #held: Socket[] = [];
  #server: Server | undefined;
  #opening = false;
  #accepting = false;
  #closed = false;

  constructor(port: number, settings: ListenSettings) {
    this.port = port;
    this.#settings = settings;
  }

  /** Never rejects: an error is kept in `fault`. */
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

  /** Accepts connections, first those that came while its edge was being prepared. */
  startAccepting(): void {
    this.#accepting = true;
    for (const socket of this.#held.splice(0)) if (!socket.destroyed) this.#settings.accept(this, socket);
  }

  close(): void {
    this.#closed = true;
    this.edge = undefined;
    this.#server?.close();
    for (const socket of this.#held.splice(0)) resetSocket(socket);
  }

  #arrive(socket: Socket): void {
    // Without a listener an error would end the process; the owner of the socket looks at its `close`.
    socket.on('error', ignore);
    if (this.#accepting) this.#settings.accept(this, socket);
    else if (this.#held.length < heldLimit) this.#held.push(socket);
    else resetSocket(socket);
  }
}

function ignore(): void {}
