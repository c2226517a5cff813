import type { Duplex } from 'node:stream';

import type { UpstreamBound } from '../../bounds/bound.ts';
import type { SourceKey } from '../../../lib/ip/source-key.ts';
import type { BackendConnections, UpstreamSlot } from '../../bounds/upstream-connections.ts';
import type { VisitorFacts } from '../../tunnels/tunnel-backend.ts';
import type { UpstreamConnection, UpstreamFault } from './connection.ts';
import type { OpenOutcome } from '../../upstream/upstream-source.ts';

/** A request that needs a connection. One of its methods is called, once. */
export interface ConnectionUser {
  /** The client, as agents are told. */
  readonly visitor: VisitorFacts;
  onConnection(connection: UpstreamConnection): void;
  onConnectFault(fault: UpstreamFault): void;
  /** The bound allows no further connection now. */
  onRefused(bound: UpstreamBound): void;
}

export interface OpeningParts {
  readonly backend: BackendConnections;
  readonly source: SourceKey;
  /** Limit of time for the place in the queue. */
  readonly queueMs: number;
  /** Returns an idle connection, whose place it takes. */
  readonly takeIdle: () => UpstreamConnection | undefined;
  /** Starts a connection; returns a function that gives it up. */
  readonly open: (outcome: OpenOutcome) => () => void;
  /** Makes a connection of a stream, which owns the place from then on. */
  readonly wrap: (stream: Duplex, slot: UpstreamSlot, via: string) => UpstreamConnection;
}

/** The way of one request to a connection: through the queue if its backend or its share of it is busy, then the connect. */
export class Opening {
  readonly #parts: OpeningParts;
  readonly #user: ConnectionUser;
  #giveUp: () => void = () => {};

  constructor(parts: OpeningParts, user: ConnectionUser) {
    this.#parts = parts;
    this.#user = user;
    const bound = parts.backend.refusal(parts.source);
    if (bound === 'backend_connections' || bound === 'backend_source_connections') this.#wait();
    else this.#begin();
  }

  /** The request is not wanted any more. Without effect when a call to the user has been made. */
  cancel(): void {
    this.#giveUp();
  }

  #wait(): void {
    const { backend, source, queueMs } = this.#parts;
    const turn = (): void => {
      clearTimeout(overdue);
      this.#begin();
    };
    const leave = (): void => {
      clearTimeout(overdue);
      backend.sources.leaveQueue(source, turn);
    };
    const overdue = setTimeout(() => {
      leave();
      this.#refuse(backend.sources.mayUse(source) ? 'backend_queue_seconds' : 'backend_source_connections');
    }, queueMs);
    this.#giveUp = leave;
    const bound = backend.sources.enqueue(source, turn);
    if (bound === undefined) return;
    clearTimeout(overdue);
    this.#refuse(bound);
  }

  #begin(): void {
    const { backend, source, takeIdle } = this.#parts;
    const idle = backend.refusal(source) === undefined ? takeIdle() : undefined;
    if (idle !== undefined) {
      this.#settle();
      this.#user.onConnection(idle);
      return;
    }
    const slot = backend.take(source);
    if (typeof slot === 'string') {
      this.#settle();
      this.#user.onRefused(slot);
      return;
    }
    // One turn later: a client that takes its request back in the same read must not cost a connection.
    const later = setImmediate(() => {
      this.#connect(slot);
    });
    this.#giveUp = () => {
      clearImmediate(later);
      slot.close();
    };
  }

  #connect(slot: UpstreamSlot): void {
    const { open, wrap } = this.#parts;
    const giveUp = open({
      opened: (stream, via) => {
        stream.once('close', () => {
          slot.close();
        });
        this.#settle();
        this.#user.onConnection(wrap(stream, slot, via));
      },
      failed: (error, cause) => {
        slot.close();
        this.#settle();
        this.#user.onConnectFault({ error, cause, stale: false });
      },
    });
    this.#giveUp = () => {
      giveUp();
      slot.close();
      this.#settle();
    };
  }

  #refuse(bound: UpstreamBound): void {
    this.#settle();
    this.#parts.backend.refused(bound, this.#parts.source);
    this.#user.onRefused(bound);
  }

  #settle(): void {
    this.#giveUp = () => {};
  }
}
