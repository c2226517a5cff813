import type { TcpClosed } from '../engine.ts';
import type { AcceptedClient, OpenConnection } from './connection.ts';
import { resetSocket } from './upstream.ts';

/** A client that was let in and has no connection to a backend yet. Its bytes are not passed on before. */
export abstract class Opening implements OpenConnection {
  readonly accepted: AcceptedClient;
  index = 0;
  protected readonly startedMs = performance.now();
  /** Gives up what is under way. */
  protected giveUp: () => void = () => {};
  readonly #closed: (opening: Opening) => void;
  /** Reason of its end if the client leaves. */
  readonly #whenClientLeaves: string;
  #isWatching = false;
  #reason = '';
  #isOver = false;

  /** `closed` is called once if there will be no connection: the client has been reset. */
  constructor(accepted: AcceptedClient, closed: (opening: Opening) => void, whenClientLeaves = 'client') {
    this.accepted = accepted;
    this.#closed = closed;
    this.#whenClientLeaves = whenClientLeaves;
    accepted.client.on('close', this.onClientClose);
  }

  /** Each step has a limit of its own. */
  watch(): void {}

  abort(reason: string): void {
    this.end(reason);
  }

  get report(): TcpClosed {
    const { edge, sourceText } = this.accepted;
    const durationMs = performance.now() - this.startedMs;
    return { edgeId: edge.rules.id, source: sourceText, bytesIn: 0, bytesOut: 0, durationMs, reason: this.#reason };
  }

  protected get isOver(): boolean {
    return this.#isOver;
  }

  /** Must be called when somebody else owns the client from now on. */
  protected leave(): void {
    this.#isOver = true;
    const { client } = this.accepted;
    client.off('close', this.onClientClose).off('end', this.onClientClose).off('readable', this.#onReadable);
  }

  /**
   * Reads ahead, without taking anything, since only a socket that is read notices that its other end has left. A client that
   * has sent something and ended its direction may still want the answer, and keeps its place.
   */
  protected watchClient(): void {
    if (this.#isWatching || this.#isOver) return;
    this.#isWatching = true;
    this.accepted.client.on('readable', this.#onReadable).on('end', this.onClientClose);
  }

  protected end(reason: string): void {
    if (this.#isOver) return;
    this.leave();
    this.#reason = reason;
    this.giveUp();
    resetSocket(this.accepted.client);
    this.#closed(this);
  }

  protected readonly onClientClose = (): void => {
    this.end(this.#whenClientLeaves);
  };

  readonly #onReadable = (): void => {
    const { client } = this.accepted;
    // At the end of a socket without bytes this emits `end`; else it does nothing.
    if (client.readableLength === 0) client.read();
  };
}
