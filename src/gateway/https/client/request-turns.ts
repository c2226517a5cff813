import type { Socket } from 'node:net';

/**
 * The requests of one HTTP/1 connection, which are carried out one at a time, in their order. Node's parser hands over all
 * requests of one read, up to 64 kB, at once; nothing more is read while one of them waits.
 */
export class RequestTurns {
  /** Value of `performance.now()` when the last exchange ended; undefined while one is under way. */
  idleSince: number | undefined = performance.now();
  readonly #socket: Socket;
  #waiting: (() => void)[] = [];

  constructor(socket: Socket) {
    this.#socket = socket;
    // Node resumes the socket on several occasions, such as the end of a message.
    socket.on('resume', () => {
      if (this.#isHeld) socket.pause();
    });
  }

  /** True while an exchange is under way. */
  get isBusy(): boolean {
    return this.idleSince === undefined;
  }

  /** True while nothing is read because a request waits. */
  get #isHeld(): boolean {
    return this.#waiting.length > 0;
  }

  /** Calls `begin` when the exchanges before it are over, each of which must call `done`. */
  take(begin: () => void): void {
    if (this.isBusy) {
      this.#waiting.push(begin);
      this.#socket.pause();
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
    if (!this.#isHeld) this.#socket.resume();
    next();
  }

  /** Forgets the requests that wait, and reads what still comes: unread bytes would reset the connection under its answer. */
  stop(): void {
    this.#waiting = [];
    this.#socket.resume();
  }
}
