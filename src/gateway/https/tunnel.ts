import type { Duplex } from 'node:stream';

import { closeSoon } from '../upstream/close-soon.ts';
import type { IdleWatch, IdleTimeout } from './idle-watch.ts';

/** Joins two sockets after a change of protocol, until one of them ends or both are idle. */
export class Tunnel implements IdleTimeout {
  lastActivity = 0;
  readonly limitMs: number;
  readonly #client: Duplex;
  readonly #upstream: Duplex;
  readonly #watch: IdleWatch;
  readonly #onDone: () => void;
  #done = false;

  constructor(client: Duplex, upstream: Duplex, watch: IdleWatch, idleMs: number, onDone: () => void) {
    this.#client = client;
    this.#upstream = upstream;
    this.#watch = watch;
    this.limitMs = idleMs;
    this.#onDone = onDone;
  }

  /** Passes on the bytes that each side had already sent, then joins the sockets. */
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

  /** Destroys both sockets at once; what waits to be written is dropped. */
  abort(): void {
    this.#client.destroy();
    this.#upstream.destroy();
    this.#close();
  }

  #pump(from: Duplex, to: Duplex): void {
    from.on('data', (chunk: Buffer) => {
      this.lastActivity = this.#watch.now;
      if (!to.write(chunk)) from.pause();
    });
    to.on('drain', () => {
      this.lastActivity = this.#watch.now;
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

  /** Closes both sockets once what waits to be written has gone out. */
  #close(): void {
    if (this.#done) return;
    this.#done = true;
    this.#watch.delete(this);
    closeSoon(this.#client);
    closeSoon(this.#upstream);
    this.#onDone();
  }
}
