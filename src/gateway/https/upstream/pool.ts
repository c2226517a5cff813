import type { Socket } from 'node:net';

import type { BackendEntry } from '../../../snapshot/contract.ts';
import type { SourceKey } from '../../bounds/source-key.ts';
import type { UpstreamConnections, UpstreamSlot } from '../../bounds/upstream-connections.ts';
import type { ConnectUpstream } from '../../upstream/connect.ts';
import type { IdleWatch } from '../idle-watch.ts';
import { UpstreamConnection } from './connection.ts';
import { Opening } from './opening.ts';
import type { ConnectionUser } from './opening.ts';

export interface PoolOptions {
  readonly connectMs: number;
  readonly keepAliveMs: number;
  readonly connect: ConnectUpstream;
  readonly upstreams: UpstreamConnections;
}

/** Most idle connections to one backend; a further one is closed after its answer. */
const idleLimit = 256;

/** The connections to one backend. The newest is used first, so that those of a burst grow old and are closed. */
export class UpstreamPool {
  readonly #target: BackendEntry;
  readonly #accountId: string;
  readonly #options: PoolOptions;
  readonly #watch: IdleWatch;
  readonly #idle: UpstreamConnection[] = [];
  #retired = false;

  constructor(target: BackendEntry, accountId: string, options: PoolOptions, watch: IdleWatch) {
    this.#target = target;
    this.#accountId = accountId;
    this.#options = options;
    this.#watch = watch;
  }

  /**
   * Calls the user with an idle connection, at once, or with a new one, for which it may have to wait; `fresh` asks for a
   * new one. The connection counts for the source. Returns the wait, to be cancelled when the request is not wanted any more.
   */
  acquire(user: ConnectionUser, source: SourceKey, fresh: boolean): Opening | undefined {
    const { upstreams, connect, connectMs } = this.#options;
    const backend = upstreams.backend(this.#target.id, this.#accountId);
    backend.serveQueue();
    const idle = !fresh && backend.refusal(source) === undefined ? this.#takeIdle(source) : undefined;
    if (idle !== undefined) {
      user.onConnection(idle);
      return undefined;
    }
    const parts = {
      backend,
      source,
      queueMs: upstreams.bounds.backendQueueMs,
      connectMs,
      takeIdle: () => (fresh ? undefined : this.#takeIdle(source)),
      connect: (established: () => void) => connect(this.#target, { keepAlive: true, alpn: ['http/1.1'] }, established),
      wrap: (...args: readonly [Socket, UpstreamSlot]) => new UpstreamConnection(...args, this, this.#watch),
    };
    return new Opening(parts, user);
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
    connection.slot.free();
  }

  onGone(connection: UpstreamConnection): void {
    const at = this.#idle.lastIndexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  /** Closes the connection that has been idle longest. False if none is idle. */
  closeOneIdle(): boolean {
    const [oldest] = this.#idle;
    oldest?.abort();
    return oldest !== undefined;
  }

  /** Keeps no connection from now on: the backend has changed or is gone. Requests under way may end. */
  retire(): void {
    this.#retired = true;
    for (const connection of this.#idle.splice(0)) connection.abort();
  }

  #takeIdle(source: SourceKey): UpstreamConnection | undefined {
    const connection = this.#idle.pop();
    connection?.slot.use(source);
    return connection;
  }
}
