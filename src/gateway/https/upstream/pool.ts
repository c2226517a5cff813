import { connect as connectTcp, isIP } from 'node:net';
import type { Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';

import type { ErrorDefinition } from '../../../errors/user-error.ts';
import { upstreamConnectTimeout, upstreamRefused } from '../../errors.ts';
import type { IdleWatch } from '../idle-watch.ts';
import { UpstreamConnection } from './connection.ts';
import type { UpstreamFault } from './connection.ts';

export interface UpstreamTls {
  /** True: the upstream's certificate must be valid for the backend's host. */
  readonly verify: boolean;
  /** Certificate authorities in PEM, in place of those that Node trusts. */
  readonly ca: string | undefined;
}

export interface UpstreamTarget {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

export interface PoolOptions {
  readonly connectMs: number;
  readonly keepAliveMs: number;
  readonly tls: UpstreamTls;
}

const idleLimit = 256;

/** The connections to one backend. Newest first, so that those of a burst grow old and are closed. */
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

  /** A connection that has served before, if there is one. */
  takeIdle(): UpstreamConnection | undefined {
    return this.#idle.pop();
  }

  /** Returns what gives the attempt up. */
  open(ready: (connection: UpstreamConnection) => void, failed: (fault: UpstreamFault) => void): () => void {
    const socket = this.#connect();
    const timer = setTimeout(() => {
      fail(upstreamConnectTimeout, new Error('connect timed out'));
    }, this.#options.connectMs);
    const established = this.#target.tls ? 'secureConnect' : 'connect';
    const onError = (error: Error): void => {
      fail(upstreamRefused, error);
    };
    const onClose = (): void => {
      fail(upstreamRefused, new Error('closed while connecting'));
    };
    const settle = (): void => {
      clearTimeout(timer);
      socket.off('error', onError).off('close', onClose).off(established, onEstablished);
    };
    const fail = (error: ErrorDefinition<never>, cause: Error): void => {
      settle();
      destroyQuietly(socket);
      failed({ error, cause, stale: false });
    };
    // Nothing is written before this: a TLS socket could send it before the certificate is verified.
    const onEstablished = (): void => {
      settle();
      ready(new UpstreamConnection(socket, this, this.#watch));
    };
    socket.on('error', onError).on('close', onClose).on(established, onEstablished);
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
    connection.lastMove = this.#watch.now;
  }

  onGone(connection: UpstreamConnection): void {
    const at = this.#idle.lastIndexOf(connection);
    if (at >= 0) this.#idle.splice(at, 1);
  }

  /** The backend has changed or is gone: what is under way may end, nothing is kept. */
  retire(): void {
    this.#retired = true;
    for (const connection of this.#idle.splice(0)) connection.abort();
  }

  #connect(): Socket {
    const { host, port, tls } = this.#target;
    if (!tls) return connectTcp({ host, port, noDelay: true, keepAlive: true });
    const { verify, ca } = this.#options.tls;
    const socket = connectTls({
      host,
      port,
      ALPNProtocols: ['http/1.1'],
      rejectUnauthorized: verify,
      ...(ca !== undefined && { ca }),
      ...(isIP(host) === 0 && { servername: host }),
    });
    return socket.setNoDelay(true).setKeepAlive(true);
  }
}

function destroyQuietly(socket: Socket): void {
  socket.on('error', () => {});
  socket.destroy();
}
