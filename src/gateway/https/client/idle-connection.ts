/** A connection without a request under way, which may be closed to make room for others. */
export interface IdleConnection {
  /** Value of `performance.now()`. */
  readonly idleSince: number;
  close(): void;
}

/** Closes up to `count` connections, those that have been idle longest. Returns how many. */
export function closeOldest(connections: Iterable<IdleConnection>, count: number): number {
  const oldest = [...connections].toSorted((a, b) => a.idleSince - b.idleSince).slice(0, count);
  for (const connection of oldest) connection.close();
  return oldest.length;
}
