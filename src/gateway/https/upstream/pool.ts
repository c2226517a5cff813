import type { Duplex } from 'node:stream';

import type { SourceKey } from '../../../lib/ip/source-key.ts';
import type { UpstreamConnections, UpstreamSlot } from '../../bounds/upstream-connections.ts';
import type { IdleWatch } from '../idle-watch.ts';
import { UpstreamConnection } from './connection.ts';
import { Opening } from './opening.ts';
import type { ConnectionUser, OpeningParts } from './opening.ts';
import type { UpstreamSource } from '../../upstream/upstream-source.ts';

export interface PoolOptions {
  readonly keepAliveMs: number;
  readonly upstreams: UpstreamConnections;
}

/** Most idle connections to one backend; a further one is closed after its answer. */
const idleLimit = 256;

/** The connections to one backend. The newest is used first, so that those of a burst grow old and are closed. */
export class UpstreamPool {
  readonly source: UpstreamSource;
  readonly #accountId: string;
  readonly #options: PoolOptions;
  readonly #watch: IdleWatch;
  readonly #idle: UpstreamConnection[] = [];
  #retired = false;

  constructor(source: UpstreamSource, accountId: string, options: PoolOptions, watch: IdleWatch) {
    this.source = source;
    this.#accountId = accountId;
    this.#options = options;
    this.#watch = watch;
  }

  /**
   * Calls the user with an idle connection, at once, or with a new one, for which it may have to wait; `fresh` asks for a
   * new one. The connection counts for the source. Returns the wait, to be cancelled when the request is not wanted any more.
   */
  acquire(user: ConnectionUser, counted: SourceKey, fresh: boolean): Opening | undefined {
    const { upstreams } = this.#options;
    const { source } = this;
    const backend = upstreams.backend(source.id, this.#accountId);
    backend.serveQueue();
    const idle = !fresh && backend.refusal(counted) === undefined ? this.#takeIdle(counted) : undefined;
    if (idle !== undefined) {
      user.onConnection(idle);
      return undefined;
    }
    const parts: OpeningParts = {
      backend,
      source: counted,
      queueMs: upstreams.bounds.backendQueueMs,
      takeIdle: () => (fresh ? undefined : this.#takeIdle(counted)),
      open: (outcome) => source.open(() => user.visitor, this.#idleOf, outcome),
      wrap: this.#wrap,
    };
    return new Opening(parts, user);
  }

  onFree(connection: UpstreamConnection, limitMs: number): void {
    const keptMs = Math.min(limitMs, this.#options.keepAliveMs);
    if (this.#retired || !this.source.isShared || keptMs <= 0 || this.#idle.length >= idleLimit) {
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

  readonly #wrap = (stream: Duplex, slot: UpstreamSlot, via: string): UpstreamConnection =>
    new UpstreamConnection({
      stream,
      slot,
      accountId: this.#accountId,
      via,
      silentEnd: this.source.silentEnd,
      owner: this,
      watch: this.#watch,
    });

  readonly #idleOf = (via: string): number => {
    let count = 0;
    for (const connection of this.#idle) if (connection.via === via) count++;
    return count;
  };

  #takeIdle(counted: SourceKey): UpstreamConnection | undefined {
    if (this.#idle.length === 0) return undefined;
    const via = this.source.preferredWay?.(this.#idleOf);
    const connection = via === undefined ? this.#idle.pop() : this.#idle.findLast((each) => each.via === via);
    if (connection === undefined) return undefined;
    if (via !== undefined) this.onGone(connection);
    this.source.reused?.();
    connection.slot.use(counted);
    return connection;
  }
}
