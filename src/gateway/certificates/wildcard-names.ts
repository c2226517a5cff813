import { keyOf } from '../../snapshot/contract.ts';
import type { SnapshotEntry, SnapshotFollower, SnapshotUpdate } from '../../snapshot/contract.ts';

/** The wildcard names that edges serve, with the account of each; there are few, however many edges there are. */
export class WildcardNames implements SnapshotFollower {
  #accounts = new Map<string, string>();
  /** Names by `keyOf`. */
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
    const edges = update.set.flatMap((entry) => toServed(entry) ?? []);
    // All old names are removed before any new one is added: a name may move from one edge to another.
    for (const key of update.removed) this.#remove(keyOf(key));
    for (const { key } of edges) this.#remove(key);
    for (const { key, accountId, names } of edges) {
      const wildcards = names.filter((name) => name.startsWith('*.'));
      if (wildcards.length === 0) continue;
      this.#byEdge.set(key, wildcards);
      for (const name of wildcards) this.#accounts.set(name, accountId);
    }
  }

  #remove(key: string): void {
    for (const name of this.#byEdge.get(key) ?? []) this.#accounts.delete(name);
    this.#byEdge.delete(key);
  }
}

interface Served {
  readonly key: string;
  readonly accountId: string;
  readonly names: readonly string[];
}

/** Undefined for entries whose names are not served with certificates of the gateway. */
function toServed(entry: SnapshotEntry): Served | undefined {
  const key = keyOf(entry);
  if (entry.kind === 'https_edge') return { key, accountId: entry.accountId, names: entry.hostports.map(withoutPort) };
  const isServed = entry.kind === 'tls_endpoint' && entry.termination !== undefined;
  return isServed ? { key, accountId: entry.accountId, names: entry.names } : undefined;
}

/** Replaces the first label: `a.b.c` → `*.b.c`. A certificate's wildcard stands for one label. */
export function wildcardOf(name: string): string {
  const dot = name.indexOf('.');
  return dot < 0 ? '' : `*${name.slice(dot)}`;
}

function withoutPort(hostport: string): string {
  return hostport.slice(0, hostport.lastIndexOf(':'));
}
