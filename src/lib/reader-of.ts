import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** Something that is read from. */
export interface Reader {
  /** Stops the reading; bytes that have been read by now may still come. */
  pause(): void;
  resume(): void;
}

/**
 * The reader of a socket is its handle. The socket's own `pause` goes on reading until 64 kB wait, and keeps each piece as
 * an object that takes a hundred times a byte; and a session of HTTP/2 reads from the handle, past the socket.
 */
export function readerOf(stream: Duplex): Reader {
  return stream instanceof Socket ? new HandleReader(stream) : stream;
}

class HandleReader implements Reader {
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  pause(): void {
    this.#call('readStop');
  }

  resume(): void {
    this.#call('readStart');
  }

  #call(name: 'readStart' | 'readStop'): void {
    // Node has no public name for it; it is gone with the connection.
    const handle: unknown = Reflect.get(this.#socket, '_handle');
    if (typeof handle !== 'object' || handle === null) return;
    const method: unknown = Reflect.get(handle, name);
    if (typeof method === 'function') Reflect.apply(method, handle, []);
  }
}
