import type { Socket } from 'node:net';

import type { SourceKey } from '../../lib/ip/source-key.ts';

/** The key of sockets whose source is not known yet. */
const unidentified = 'unidentified';
/** One source may have the limit divided by this. */
const sources = 4;

/**
 * Sockets of agents that are not authenticated. Where there are too many, of one source or in all, one of the source that
 * has most makes room: the oldest that has said nothing, or else the oldest.
 */
export class PendingSockets {
  readonly #limit: number;
  readonly #keys = new Map<Socket, SourceKey>();
  /** Oldest first. */
  readonly #bySource = new Map<SourceKey, Set<Socket>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  get size(): number {
    return this.#keys.size;
  }

  /** Returns the socket that has to make room, if one has to. */
  add(socket: Socket): Socket | undefined {
    this.#put(socket, unidentified);
    return this.size > this.#limit ? this.#leave(this.#largest(), socket) : undefined;
  }

  /** Counts the socket for its source. Returns the socket that has to make room, if one has to. */
  identify(socket: Socket, key: SourceKey): Socket | undefined {
    if (!this.#keys.has(socket)) return undefined;
    this.delete(socket);
    this.#put(socket, key);
    const own = this.#bySource.get(key);
    return own !== undefined && own.size > Math.ceil(this.#limit / sources) ? this.#leave(own, socket) : undefined;
  }

  delete(socket: Socket): void {
    const key = this.#keys.get(socket);
    if (key === undefined) return;
    this.#keys.delete(socket);
    const own = this.#bySource.get(key);
    own?.delete(socket);
    if (own?.size === 0) this.#bySource.delete(key);
  }

  destroyAll(): void {
    for (const socket of this.#keys.keys()) socket.destroy();
  }

  #put(socket: Socket, key: SourceKey): void {
    this.#keys.set(socket, key);
    const own = this.#bySource.get(key) ?? new Set();
    this.#bySource.set(key, own.add(socket));
  }

  #largest(): ReadonlySet<Socket> {
    let found: ReadonlySet<Socket> = new Set();
    for (const own of this.#bySource.values()) if (own.size > found.size) found = own;
    return found;
  }

  /** The newest has had no time to say anything. */
  #leave(own: ReadonlySet<Socket>, newest: Socket): Socket {
    const older = [...own].filter((socket) => socket !== newest);
    const leaving = older.find(({ bytesRead }) => bytesRead === 0) ?? older[0] ?? newest;
    this.delete(leaving);
    return leaving;
  }
}
