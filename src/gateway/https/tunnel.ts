import type { Duplex } from 'node:stream';

import type { SourceKey } from '../../lib/ip/source-key.ts';
import { closeSoon } from '../upstream/close-soon.ts';
import { Flow } from '../turns/flow.ts';
import type { IdleWatch, IdleTimeout } from './idle-watch.ts';

/** Joins two sockets after a change of protocol, until one of them ends or both are idle. */
export class Tunnel implements IdleTimeout {
  lastActivity = 0;
  readonly limitMs: number;
  readonly #client: Duplex;
  readonly #upstream: Duplex;
  readonly #owner: SourceKey;
  readonly #watch: IdleWatch;
  readonly #onDone: () => void;
  #done = false;

  /** `owner` is the source of the client. */
  constructor(
    client: Duplex,
    upstream: Duplex,
    owner: SourceKey,
    watch: IdleWatch,
    idleMs: number,
    onDone: () => void,
  ) {
    this.#client = client;
    this.#owner = owner;
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
    const flow = new Flow(from, to, this.#owner);
    from.on('data', (chunk: Buffer) => {
      this.lastActivity = this.#watch.now;
      flow.push(chunk);
    });
    to.on('drain', () => {
      this.lastActivity = this.#watch.now;
    });
    from.on('end', () => {
      flow.flush();
      to.end();
    });
    from.on('error', () => {
      this.#close();
    });
    from.on('close', () => {
      flow.flush();
      this.#close();
    });
    from.resume();
  }

  /** Closes both sockets once what waits to be written has gone out. */
  #close(): void {
    if (this.#done) return;
    this.#done = true;
    this.#watch.delete(this);
    closeSoon(this.#client, this.limitMs);
    closeSoon(this.#upstream, this.limitMs);
    this.#onDone();
  }
}
