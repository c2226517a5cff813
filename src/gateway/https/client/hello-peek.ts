import type { Socket } from 'node:net';

import { readClientHello } from '../../../lib/client-hello.ts';
import type { IdleConnection } from './idle-connection.ts';

/** Reads the server name that a TLS client asks for and the protocols it offers above TLS, and puts the bytes back. */
export class HelloPeek {
  readonly #limitMs: number;
  readonly #pending = new Map<Socket, number>();

  constructor(limitMs: number) {
    this.#limitMs = limitMs;
  }

  /** Calls `ready` with the bytes put back and no listener left. A client that is late is closed, and `ready` not called. */
  read(socket: Socket, ready: (serverName: string | undefined, protocols: readonly string[]) => void): void {
    let held: Buffer = Buffer.alloc(0);
    const late = setTimeout(() => socket.destroy(), this.#limitMs);
    const stop = (): void => {
      clearTimeout(late);
      this.#pending.delete(socket);
      socket.off('readable', read).off('end', refuse).off('error', refuse).off('close', stop);
    };
    const refuse = (): void => {
      stop();
      socket.destroy();
    };
    const read = (): void => {
      // A socket without an encoding yields buffers.
      for (let chunk = socket.read() as Buffer | null; chunk !== null; chunk = socket.read() as Buffer | null) {
        held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
        const hello = readClientHello(held);
        if (hello.state === 'more') continue;
        stop();
        socket.unshift(held);
        ready(hello.serverName, hello.protocols ?? []);
        return;
      }
    };
    this.#pending.set(socket, performance.now());
    // Not `data`: leaving flowing mode takes `pause`, after which the next reader's `data` listener would not start it again.
    socket.on('readable', read).on('end', refuse).on('error', refuse).on('close', stop);
  }

  *idleConnections(): Generator<IdleConnection> {
    for (const [socket, startedAt] of this.#pending) yield { idleSince: startedAt, close: () => socket.destroy() };
  }
}
