import type { Socket } from 'node:net';

import type { ErrorDefinition } from '../../../errors/user-error.ts';
import type { UpstreamBound } from '../../bounds/bound.ts';
import type { SourceKey } from '../../bounds/source-key.ts';
import type { BackendConnections, UpstreamSlot } from '../../bounds/upstream-connections.ts';
import { backendLeadsInwards, upstreamConnectTimeout, upstreamRefused } from '../../errors.ts';
import { InwardBackendError } from '../../upstream/guard.ts';
import type { UpstreamConnection, UpstreamFault } from './connection.ts';

/** A request that needs a connection. One of these is called, once. */
export interface ConnectionUser {
  onConnection(connection: UpstreamConnection): void;
  onConnectFault(fault: UpstreamFault): void;
  /** The bound allows no further connection now. */
  onRefused(bound: UpstreamBound): void;
}

export interface OpeningParts {
  readonly backend: BackendConnections;
  readonly source: SourceKey;
  /** Limits of time for the place in the queue, and for the connect. */
  readonly queueMs: number;
  readonly connectMs: number;
  /** Returns an idle connection, whose place it takes. */
  readonly takeIdle: () => UpstreamConnection | undefined;
  readonly connect: (established: () => void) => Socket;
  /** Makes a connection of a socket, which owns the place from then on. */
  readonly wrap: (socket: Socket, slot: UpstreamSlot) => UpstreamConnection;
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
    const { connect, connectMs, wrap } = this.#parts;
    const socket = connect(() => {
      settle();
      this.#user.onConnection(wrap(socket, slot));
    });
    socket.once('close', () => {
      slot.close();
    });
    const onError = (error: Error): void => {
      fail(error instanceof InwardBackendError ? backendLeadsInwards : upstreamRefused, error);
    };
    const onClose = (): void => {
      fail(upstreamRefused, new Error('closed while connecting'));
    };
    const timer = setTimeout(() => {
      fail(upstreamConnectTimeout, new Error('connect timed out'));
    }, connectMs);
    const settle = (): void => {
      clearTimeout(timer);
      socket.off('error', onError).off('close', onClose);
      this.#settle();
    };
    const close = (): void => {
      settle();
      socket.on('error', () => {});
      socket.destroy();
      slot.close();
    };
    const fail = (error: ErrorDefinition<never>, cause: Error): void => {
      close();
      this.#user.onConnectFault({ error, cause, stale: false });
    };
    socket.on('error', onError).on('close', onClose);
    this.#giveUp = close;
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
