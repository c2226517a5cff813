import type { Socket } from 'node:net';

/**
 * Requests that may wait before nothing more is read. As long as it is read, the gateway sees a client leave. Node's parser
 * hands over all requests of one read at once, so that more may wait: those of 64 kB, at 2 kB of memory each.
 */
const heldFrom = 16;

/** The requests of one HTTP/1 connection, which are carried out one at a time, in their order. */
export class RequestTurns {
  /** Value of `performance.now()` when the last exchange ended; undefined while one is under way. */
  idleSince: number | undefined = performance.now();
  readonly #socket: Socket;
  #waiting: (() => void)[] = [];

  /** Must be called when Node's server has taken the socket, whose listener of `resume` comes first then. */
  constructor(socket: Socket) {
    this.#socket = socket;
    // Node resumes the socket on several occasions, such as the end of a message.
    socket.on('resume', () => {
      if (this.#isHeld) this.#hold();
    });
  }

  /** True while an exchange is under way. */
  get isBusy(): boolean {
    return this.idleSince === undefined;
  }

  get #isHeld(): boolean {
    return this.#waiting.length >= heldFrom;
  }

  /** Calls `begin` when the exchanges before it are over, each of which must call `done`. */
  take(begin: () => void): void {
    if (this.isBusy) {
      this.#waiting.push(begin);
      if (this.#isHeld) this.#hold();
      return;
    }
    this.idleSince = undefined;
    begin();
  }

  done(): void {
    const next = this.#waiting.shift();
    if (next === undefined) {
      this.idleSince = performance.now();
      return;
    }
    if (this.#waiting.length === heldFrom - 1) this.#socket.resume();
    next();
  }

  /** Forgets the requests that wait, and reads what still comes: unread bytes would reset the connection under its answer. */
  stop(): void {
    this.#waiting = [];
    this.#socket.resume();
  }

  #hold(): void {
    this.#socket.pause();
    // A `resume` that was scheduled before has started Node's reading again, and `pause` says nothing the second time.
    this.#socket.emit('pause');
  }
}
