import type { Duplex } from 'node:stream';

import type { UpstreamSlot } from '../bounds/upstream-connections.ts';
import type { TcpClosed } from '../engine.ts';
import type { TunnelBackend, VisitorFacts } from '../tunnels/tunnel-backend.ts';
import type { TunnelBackends } from '../tunnels/tunnel-backends.ts';
import type { AcceptedClient, OpenConnection } from './connection.ts';
import { resetSocket } from './upstream.ts';

export interface DialingParts {
  readonly backend: TunnelBackend;
  readonly tunnels: TunnelBackends;
  readonly slot: Pick<UpstreamSlot, 'close'>;
  readonly visitor: VisitorFacts;
  readonly connectMs: number;
  /** The way to the backend is open; the callee owns the stream and the slot. */
  readonly opened: (dialing: TcpDialing, stream: Duplex) => void;
  /** There is no way, or it is not wanted any more: the client has been reset and the slot closed. */
  readonly closed: (dialing: TcpDialing) => void;
}

/** A client that was let in and waits for a way through an agent. Its bytes are not read before. */
export class TcpDialing implements OpenConnection {
  readonly accepted: AcceptedClient;
  index = 0;
  readonly #parts: DialingParts;
  readonly #startedMs = performance.now();
  #giveUp: () => void = () => {};
  #reason = 'connect failed';
  #isOver = false;
  #isWatching = false;

  constructor(accepted: AcceptedClient, parts: DialingParts) {
    this.accepted = accepted;
    this.#parts = parts;
    accepted.client.on('close', this.#onClientClose);
    this.#dial(parts.backend);
  }

  /** The dial has a limit of its own. */
  watch(): void {}

  abort(reason: string): void {
    this.#end(reason);
  }

  get report(): TcpClosed {
    const { edge, sourceText } = this.accepted;
    const durationMs = performance.now() - this.#startedMs;
    return { edgeId: edge.rules.id, source: sourceText, bytesIn: 0, bytesOut: 0, durationMs, reason: this.#reason };
  }

  #dial(backend: TunnelBackend): void {
    const { visitor, connectMs, opened } = this.#parts;
    this.#giveUp = backend.open(visitor, connectMs, () => 0, {
      opened: (stream) => {
        this.#isOver = true;
        this.#stopWatching();
        opened(this, stream);
      },
      failed: ({ reason }) => {
        if (reason === 'full') this.#end('agent full');
        else this.#wait(backend);
      },
    });
  }

  /** Waits for an agent that is on its way back. Rules that change meanwhile are checked as for every open connection. */
  #wait(backend: TunnelBackend): void {
    const { tunnels } = this.#parts;
    const { edge } = this.accepted;
    const waiting = tunnels.wait(backend, {
      accountId: edge.rules.accountId,
      untilMs: this.#startedMs + tunnels.waitMs,
      again: () => {
        const found = tunnels.find(edge.rules.pipeline.backendId);
        if (found === undefined) this.#end('no backend');
        else this.#dial(found);
      },
      over: () => {
        this.#end('connect failed');
      },
    });
    if (typeof waiting === 'object') {
      this.#giveUp = waiting.leave;
      this.#watchClient();
    } else {
      this.#end(waiting === 'full' ? 'too many wait' : 'connect failed');
    }
  }

  /**
   * Reads ahead, without taking anything, since only a socket that is read notices that its other end has left. A client that
   * has sent something and ended its direction may still want the answer, and keeps its place.
   */
  #watchClient(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.accepted.client.on('readable', this.#onReadable).on('end', this.#onClientClose);
  }

  #stopWatching(): void {
    const { client } = this.accepted;
    client.off('close', this.#onClientClose).off('end', this.#onClientClose).off('readable', this.#onReadable);
  }

  readonly #onReadable = (): void => {
    const { client } = this.accepted;
    // At the end of a socket without bytes this emits `end`; else it does nothing.
    if (client.readableLength === 0) client.read();
  };

  readonly #onClientClose = (): void => {
    this.#end('client');
  };

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reason = reason;
    this.#giveUp();
    this.#parts.slot.close();
    resetSocket(this.accepted.client);
    this.#parts.closed(this);
  }
}
