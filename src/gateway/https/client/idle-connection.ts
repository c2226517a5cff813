/** A connection without a request under way, which may be closed to make room for others. */
export interface IdleConnection {
  /** Value of `performance.now()`. */
  readonly idleSince: number;
  close(): void;
}

/** Closes up to `count` connections, those that have been idle longest. */
export function closeOldest(connections: Iterable<IdleConnection>, count: number): void {
  const oldestFirst = [...connections].toSorted((a, b) => a.idleSince - b.idleSince);
  for (const connection of oldestFirst.slice(0, count)) connection.close();
}
