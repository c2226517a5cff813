import type { SnapshotFollower, SnapshotUpdate } from '../../snapshot/contract.ts';

/** The ports of all TCP edges. Those of an update count from `prepare` on, those it takes away until its swap. */
export class TcpPorts implements SnapshotFollower {
  readonly #ownerByPort = new Map<number, string>();
  readonly #portsByEdge = new Map<string, readonly number[]>();
  #staged: ReadonlySet<number> = new Set();

  has(port: number): boolean {
    return this.#ownerByPort.has(port) || this.#staged.has(port);
  }

  prepare(update: SnapshotUpdate): () => void {
    const edges = update.set.filter((entry) => entry.kind === 'tcp_edge');
    this.#staged = new Set(edges.flatMap(({ ports }) => ports));
    return () => {
      if (update.full) {
        this.#ownerByPort.clear();
        this.#portsByEdge.clear();
      }
      for (const { kind, id } of update.removed) if (kind === 'tcp_edge') this.#remove(id);
      for (const { id } of edges) this.#remove(id);
      for (const { id, ports } of edges) this.#add(id, ports);
      this.#staged = new Set();
    };
  }

  #add(id: string, ports: readonly number[]): void {
    this.#portsByEdge.set(id, ports);
    for (const port of ports) this.#ownerByPort.set(port, id);
  }

  #remove(id: string): void {
    for (const port of this.#portsByEdge.get(id) ?? []) {
      if (this.#ownerByPort.get(port) === id) this.#ownerByPort.delete(port);
    }
    this.#portsByEdge.delete(id);
  }
}
