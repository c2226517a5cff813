import { KeySets } from '../../lib/key-sets.ts';
import { restrictionTypes } from '../../snapshot/contract.ts';
import type { EntryKey, RestrictionEntry, SnapshotUpdate } from '../../snapshot/contract.ts';
import type { TcpEdge } from './edge.ts';

/**
 * Finds the edges with open connections whose rules an update touches. Edges without connections are left out, so that a
 * change costs no more than the connections it concerns, however many edges there are.
 */
export class OpenEdges {
  #all = new Set<TcpEdge>();
  #byPolicy = new KeySets<string, TcpEdge>();
  #byAccount = new KeySets<string, TcpEdge>();
  /** Edges whose rules go by secrets. */
  #ofVaults = new Set<TcpEdge>();
  /** Restrictions that apply to this traffic. */
  #restrictions = new Map<string, RestrictionEntry>();
  #restrictionsByPolicy = new KeySets<string, RestrictionEntry>();

  add(edge: TcpEdge): void {
    const { accountId, policyIds, list } = edge.rules;
    this.#all.add(edge);
    if (list.readsVaults) this.#ofVaults.add(edge);
    this.#byAccount.add(accountId, edge);
    for (const id of policyIds) this.#byPolicy.add(id, edge);
  }

  /** Must be called while the edge still has the rules it was added with. */
  delete(edge: TcpEdge): void {
    const { accountId, policyIds } = edge.rules;
    this.#all.delete(edge);
    this.#ofVaults.delete(edge);
    this.#byAccount.delete(accountId, edge);
    for (const id of policyIds) this.#byPolicy.delete(id, edge);
  }

  get size(): number {
    return this.#all.size;
  }

  [Symbol.iterator](): Iterator<TcpEdge> {
    return this.#all.values();
  }

  /** Takes over the restrictions of the update, and returns the edges that its policies and restrictions concern. */
  follow(update: SnapshotUpdate): ReadonlySet<TcpEdge> {
    if (update.full) {
      this.#restrictions.clear();
      this.#restrictionsByPolicy.clear();
    }
    const touched = new Set<TcpEdge>();
    for (const entry of update.set) {
      if (entry.kind === 'policy') this.#collectByPolicy(entry.id, touched);
      if (entry.kind === 'restriction') this.#replace(entry.id, entry, touched);
    }
    for (const key of update.removed) this.#remove(key, touched);
    if (update.set.some(isOfVaults) || update.removed.some(isOfVaults)) addAll(touched, this.#ofVaults);
    return update.full ? new Set(this.#all) : touched;
  }

  #remove({ kind, id }: EntryKey, touched: Set<TcpEdge>): void {
    if (kind === 'policy') this.#collectByPolicy(id, touched);
    if (kind === 'restriction') this.#replace(id, undefined, touched);
  }

  #collectByPolicy(id: string, touched: Set<TcpEdge>): void {
    addAll(touched, this.#byPolicy.of(id));
    for (const { accountId } of this.#restrictionsByPolicy.of(id) ?? []) addAll(touched, this.#byAccount.of(accountId));
  }

  #replace(id: string, entry: RestrictionEntry | undefined, touched: Set<TcpEdge>): void {
    const old = this.#restrictions.get(id);
    if (old !== undefined) {
      this.#restrictions.delete(id);
      for (const policyId of old.policyIds) this.#restrictionsByPolicy.delete(policyId, old);
      addAll(touched, this.#byAccount.of(old.accountId));
    }
    if (entry === undefined || !concernsTraffic(entry)) return;
    this.#restrictions.set(id, entry);
    for (const policyId of entry.policyIds) this.#restrictionsByPolicy.add(policyId, entry);
    addAll(touched, this.#byAccount.of(entry.accountId));
  }
}

/** A restriction of an unknown type cannot be loaded, and closes all that its account has. */
function concernsTraffic({ type }: RestrictionEntry): boolean {
  return type === 'endpoints' || !restrictionTypes.includes(type);
}

function addAll<Value>(into: Set<Value>, values: Iterable<Value> | undefined): void {
  for (const value of values ?? []) into.add(value);
}

function isOfVaults({ kind }: EntryKey): boolean {
  return kind === 'vault' || kind === 'vault_secret';
}
