import type { Socket } from 'node:net';

import { readDirectly } from '../../lib/direct-reads.ts';

/** Bytes that are parsed at once: the smallest requests or chunks of a body in them take some 2 ms. */
const sliceBytes = 4096;
/** Time that one read may take. A read of a usual body takes a tenth of it. */
const shareMs = 1;

interface SlicedReaderOptions {
  /** False while bytes shall wait. */
  readonly mayParse: () => boolean;
  /** Pieces of a body wait that nobody has begun to read. Node resumes the socket when somebody does. */
  readonly isUnread: () => boolean;
  /** Asks for a call of `goOn` in a later turn of the event loop. */
  readonly later: () => void;
}

/**
 * Stands between a socket and Node's HTTP parser, which would work off a whole read at once: 64 kB hold 2,000 requests, or
 * 10,000 chunks of a body. It hands over slices, holds the rest, and stops reading until that is parsed.
 */
export class SlicedReader {
  readonly #socket: Socket;
  readonly #options: SlicedReaderOptions;
  readonly #parse: (bytes: Buffer) => void;
  /** The socket's own. */
  readonly #pause: () => void;
  readonly #resume: () => void;
  #held: Buffer | undefined;
  /** Node has paused the socket, or nobody reads what was parsed. */
  #isStopped = false;
  #isDiscarding = false;

  /** Must be called when Node has set up the socket. */
  constructor(socket: Socket, options: SlicedReaderOptions) {
    this.#socket = socket;
    this.#options = options;
    this.#pause = socket.pause.bind(socket);
    this.#resume = socket.resume.bind(socket);
    const [parse] = socket.listeners('data');
    if (parse === undefined) throw new Error('the connection has no parser');
    // Node's own listener, which takes the bytes that were read.
    this.#parse = parse as (bytes: Buffer) => void;
    const take = (bytes: Buffer) => this.#take(bytes);
    socket.off('data', this.#parse).on('data', take);
    readDirectly(socket, take);
    // Node resumes the socket behind each request, whatever is held here.
    socket.pause = () => {
      this.#isStopped = true;
      this.#pause();
      return socket;
    };
    socket.resume = () => {
      this.#isStopped = false;
      this.update();
      return socket;
    };
  }

  /** Must be called whenever `mayParse` may have changed. */
  update(): void {
    const mayParse = this.#isDiscarding || this.#mayParse;
    if (this.#held === undefined && mayParse) {
      if (this.#socket.readableFlowing !== true) this.#resume();
      return;
    }
    this.#pause();
    if (mayParse) this.#options.later();
  }

  /** Parses what is held, for as long as it may. */
  goOn(): void {
    const endMs = performance.now() + shareMs;
    let held = this.#held;
    while (held !== undefined && this.#mayParse && !this.#socket.destroyed) {
      this.#held = held.length > sliceBytes ? held.subarray(sliceBytes) : undefined;
      this.#hand(held.subarray(0, sliceBytes));
      held = this.#held;
      if (performance.now() >= endMs) break;
    }
    if (this.#socket.destroyed) this.#held = undefined;
    else this.update();
  }

  /** Reads on, and parses nothing more. */
  discard(): void {
    this.#isDiscarding = true;
    this.#held = undefined;
    this.#resume();
  }

  #take(bytes: Buffer): void {
    if (this.#isDiscarding) return;
    if (this.#held === undefined && bytes.length <= sliceBytes && this.#mayParse) {
      this.#hand(bytes);
      if (this.#isStopped) this.update();
    } else {
      this.#held = this.#held === undefined ? bytes : Buffer.concat([this.#held, bytes]);
      this.goOn();
    }
  }

  #hand(slice: Buffer): void {
    this.#parse(slice);
    if (this.#options.isUnread()) this.#isStopped = true;
  }

  get #mayParse(): boolean {
    return !this.#isStopped && this.#options.mayParse();
  }
}
