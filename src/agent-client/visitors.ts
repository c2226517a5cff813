import { setTimeout as sleep } from 'node:timers/promises';

import type { MuxStream, StreamFault, StreamReceiver } from '../agents/mux/mux-stream.ts';
import { codes } from '../agents/wire/frame.ts';
import { readProxyHeader } from '../agents/wire/proxy-header.ts';
import type { ProxyHeader } from '../agents/wire/proxy-header.ts';
import { Visitor } from './visitor.ts';
import type { VisitorOptions } from './visitor.ts';

/** How often visitors that are to leave are looked at. */
const drainLookMs = 50;

/** The visitors of one agent. */
export class Visitors {
  readonly #options: VisitorOptions;
  readonly #open = new Set<Visitor>();

  constructor(options: VisitorOptions) {
    this.#options = options;
  }

  get count(): number {
    return this.#open.size;
  }

  /** Takes a stream of the server, from behind its type on. */
  take(stream: MuxStream): StreamReceiver {
    return new VisitorStart(stream, (header) => {
      const visitor: Visitor = new Visitor(stream, header, this.#options, () => this.#open.delete(visitor));
      this.#open.add(visitor);
      return visitor;
    });
  }

  /** Resolves when no visitor is busy any more, or at the limit. */
  async drained(limitMs: number): Promise<void> {
    const deadlineMs = performance.now() + limitMs;
    const isBusy = (): boolean => [...this.#open].some((visitor) => visitor.isBusy);
    while (isBusy() && performance.now() < deadlineMs) await sleep(drainLookMs);
  }
}

/** Reads the header before the bytes of a visitor. */
class VisitorStart implements StreamReceiver {
  readonly #stream: MuxStream;
  readonly #take: (header: ProxyHeader) => StreamReceiver;
  #held: Buffer = Buffer.alloc(0);

  constructor(stream: MuxStream, take: (header: ProxyHeader) => StreamReceiver) {
    this.#stream = stream;
    this.#take = take;
  }

  onBytes(bytes: Buffer): void {
    this.#held = Buffer.concat([this.#held, bytes]);
    const read = readProxyHeader(this.#held);
    if (read.state === 'more') return;
    if (read.state === 'bad') {
      this.#stream.reset(codes.protocol);
      return;
    }
    const next = this.#take(read.header);
    this.#stream.receiver = next;
    this.#stream.credit(this.#held.length - read.rest.length);
    if (read.rest.length > 0) next.onBytes(read.rest);
  }

  onEnd(): void {
    this.#stream.reset();
  }

  onDrain(): void {}

  onClose(_fault: StreamFault | undefined): void {}
}
