import type { SnapshotFollower, SnapshotUpdate } from '../../snapshot/contract.ts';

/** The wildcard names that edges serve, with the account of each; there are few, however many edges there are. */
export class WildcardNames implements SnapshotFollower {
  #accounts = new Map<string, string>();
  #byEdge = new Map<string, readonly string[]>();

  prepare(update: SnapshotUpdate): () => void {
    return () => {
      this.#swap(update);
    };
  }

  has(accountId: string, wildcard: string): boolean {
    return this.#accounts.get(wildcard) === accountId;
  }

  #swap(update: SnapshotUpdate): void {
    if (update.full) {
      this.#accounts = new Map();
      this.#byEdge = new Map();
    }
    const edges = update.set.filter((entry) => entry.kind === 'https_edge');
    // All old names are removed before any new one is added: a name may move from one edge to another.
    for (const { kind, id } of update.removed) if (kind === 'https_edge') this.#remove(id);
    for (const { id } of edges) this.#remove(id);
    for (const { id, accountId, hostports } of edges) {
      const names = hostports.filter((hostport) => hostport.startsWith('*.')).map(withoutPort);
      if (names.length === 0) continue;
      this.#byEdge.set(id, names);
      for (const name of names) this.#accounts.set(name, accountId);
    }
  }

  #remove(edgeId: string): void {
    for (const name of this.#byEdge.get(edgeId) ?? []) this.#accounts.delete(name);
    this.#byEdge.delete(edgeId);
  }
}

/** Replaces the first label: `a.b.c` → `*.b.c`. A certificate's wildcard stands for one label. */
export function wildcardOf(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? '' : `*${name.slice(dot)}`;
}

function withoutPort(hostport: string): string {
  return hostport.slice(0, hostport.lastIndexOf(':'));
}
