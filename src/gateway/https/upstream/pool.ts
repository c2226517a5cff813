import type { Socket } from 'node:net';

import type { ErrorDefinition } from '../../../errors/user-error.ts';
import { backendLeadsInwards, upstreamConnectTimeout, upstreamRefused } from '../../errors.ts';
import type { ConnectUpstream, UpstreamTarget } from '../../upstream/connect.ts';
import { InwardBackendError } from '../../upstream/guard.ts';
import type { IdleWatch } from '../idle-watch.ts';
import { UpstreamConnection } from './connection.ts';
import type { UpstreamFault } from './connection.ts';

export interface PoolOptions {
  readonly connectMs: number;
  readonly keepAliveMs: number;
  readonly connect: ConnectUpstream;
}

/** Most idle connections to one backend; a further one is closed after its answer. */
const idleLimit = 256;

/** The connections to one backend. The newest is used first, so that those of a burst grow old and are closed. */
export class UpstreamPool {
  readonly #target: UpstreamTarget;
  readonly #options: PoolOptions;
  readonly #watch: IdleWatch;
  readonly #idle: UpstreamConnection[] = [];
  #retired = false;

  constructor(target: UpstreamTarget, options: PoolOptions, watch: IdleWatch) {
    this.#target = target;
    this.#options = options;
    this.#watch = watch;
  }

  /** Returns a connection that has served before, if there is one. */
  takeIdle(): UpstreamConnection | undefined {
    return this.#idle.pop();
  }

  /** Opens a new connection. Returns a function that gives the attempt up. */
  open(ready: (connection: UpstreamConnection) => void, failed: (fault: UpstreamFault) => void): () => void {
    const options = { keepAlive: true, alpn: ['http/1.1'] };
    const socket = this.#options.connect(this.#target, options, () => {
      settle();
      ready(new UpstreamConnection(socket, this, this.#watch));
    });
    const timer = setTimeout(() => {
      fail(upstreamConnectTimeout, new Error('connect timed out'));
    }, this.#options.connectMs);
    const onError = (error: Error): void => {
      fail(error instanceof InwardBackendError ? backendLeadsInwards : upstreamRefused, error);
    };
    const onClose = (): void => {
      fail(upstreamRefused, new Error('closed while connecting'));
    };
    const settle = (): void => {
      clearTimeout(timer);
      socket.off('error', onError).off('close', onClose);
    };
    const fail = (error: ErrorDefinition<never>, cause: Error): void => {
      settle();
      destroyQuietly(socket);
      failed({ error, cause, stale: false });
    };
    socket.on('error', onError).on('close', onClose);
    return () => {
      settle();
      destroyQuietly(socket);
    };
  }

  onFree(connection: UpstreamConnection, limitMs: number): void {
    const keptMs = Math.min(limitMs, this.#options.keepAliveMs);
    if (this.#retired || keptMs <= 0 || this.#idle.length >= idleLimit) {
      connection.abort();
      return;
    }
    this.#idle.push(connection);
    connection.limitMs = keptMs;
    connection.lastActivity = this.#watch.now;
  }

  onGone(connection: UpstreamConnection): void {
    const at = this.#idle.lastIndexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  /** Keeps no connection from now on: the backend has changed or is gone. Requests under way may end. */
  retire(): void {
    this.#retired = true;
    for (const connection of this.#idle.splice(0)) connection.abort();
  }
}

function destroyQuietly(socket: Socket): void {
  socket.on('error', () => {});
  socket.destroy();
}
