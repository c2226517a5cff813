import type { Socket } from 'node:net';

import type { IdleWatch, Watched } from './idle-watch.ts';

/** Two sockets that speak to each other after a change of protocol, until one of them ends or both fall silent. */
export class Tunnel implements Watched {
  lastMove = 0;
  readonly limitMs: number;
  readonly #client: Socket;
  readonly #upstream: Socket;
  readonly #watch: IdleWatch;
  readonly #onDone: () => void;
  #done = false;

  constructor(client: Socket, upstream: Socket, watch: IdleWatch, idleMs: number, onDone: () => void) {
    this.#client = client;
    this.#upstream = upstream;
    this.#watch = watch;
    this.limitMs = idleMs;
    this.#onDone = onDone;
  }

  /** The bytes that each side had already sent come first. */
  start(fromClient: Buffer, fromUpstream: Buffer): void {
    this.#watch.add(this);
    if (fromClient.length > 0) this.#upstream.write(fromClient);
    if (fromUpstream.length > 0) this.#client.write(fromUpstream);
    this.#pump(this.#client, this.#upstream);
    this.#pump(this.#upstream, this.#client);
  }

  onIdle(): void {
    this.#close();
  }

  /** Nothing more goes out on either side. */
  abort(): void {
    this.#client.destroy();
    this.#upstream.destroy();
    this.#close();
  }

  #pump(from: Socket, to: Socket): void {
    from.on('data', (chunk: Buffer) => {
      this.lastMove = this.#watch.now;
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      this.lastMove = this.#watch.now;
      from.resume();
    });
    from.on('end', () => to.end());
    from.on('error', () => {
      this.#close();
    });
    from.on('close', () => {
      this.#close();
    });
    from.resume();
  }

  /** What is written already still goes out, as far as the other side takes it. */
  #close(): void {
    if (this.#done) return;
    this.#done = true;
    this.#watch.delete(this);
    this.#client.destroySoon();
    this.#upstream.destroySoon();
    this.#onDone();
  }
}
