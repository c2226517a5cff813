import type { IpAddress } from '../lib/ip/address.ts';
import { CidrSet } from '../lib/ip/cidr-set.ts';
import { ruleFlag } from './contract.ts';
import type { RestrictionEntry, RestrictionType, SnapshotFollower, SnapshotUpdate } from './contract.ts';

/** The verdict of an account's restrictions of one type on an address. */
export interface AccessVerdict {
  /** The id of the first enforced restriction that refuses; undefined when none does. */
  readonly refusedBy: string | undefined;
  /** Ids of restrictions that are not enforced and would have refused. */
  readonly warnedBy: readonly string[];
}

const noWarnings: readonly string[] = [];
const admitted: AccessVerdict = { refusedBy: undefined, warnedBy: noWarnings };

/** The IP policies and restrictions in force, which decide about addresses for the API and traffic alike. */
export class AccessTable implements SnapshotFollower {
  #policies = new Map<string, CidrSet>();
  #restrictions = new Map<string, RestrictionEntry>();
  /** Restrictions by type, then by account. An account without any has no entry: the common case is one failed lookup. */
  #byAccount = noRestrictions();

  prepare(update: SnapshotUpdate): () => void {
    const policies = new Map<string, CidrSet>();
    for (const entry of update.set) if (entry.kind === 'policy') policies.set(entry.id, new CidrSet(entry.rules));
    return () => {
      this.#swap(update, policies);
    };
  }

  /** Allows an address if an allow rule of any of the policies matches and no deny rule does. */
  allows(policyIds: readonly string[], source: IpAddress): boolean {
    let flags = 0;
    for (const id of policyIds) flags |= this.#policies.get(id)?.lookup(source) ?? 0;
    return flags === ruleFlag.allow;
  }

  admit(accountId: string, type: RestrictionType, source: IpAddress): AccessVerdict {
    const restrictions = this.#byAccount[type].get(accountId);
    if (restrictions === undefined) return admitted;
    let refusedBy: string | undefined;
    let warnedBy: string[] | undefined;
    for (const restriction of restrictions) {
      if (this.allows(restriction.policyIds, source)) continue;
      if (restriction.enforced) refusedBy ??= restriction.id;
      else (warnedBy ??= []).push(restriction.id);
    }
    return refusedBy === undefined && warnedBy === undefined
      ? admitted
      : { refusedBy, warnedBy: warnedBy ?? noWarnings };
  }

  #swap(update: SnapshotUpdate, policies: ReadonlyMap<string, CidrSet>): void {
    if (update.full) {
      this.#policies = new Map();
      this.#restrictions = new Map();
      this.#byAccount = noRestrictions();
    }
    for (const [id, set] of policies) this.#policies.set(id, set);
    for (const entry of update.set) if (entry.kind === 'restriction') this.#add(entry);
    for (const { kind, id } of update.removed) {
      if (kind === 'policy') this.#policies.delete(id);
      if (kind === 'restriction') this.#remove(id);
    }
  }

  #add(entry: RestrictionEntry): void {
    this.#remove(entry.id);
    this.#restrictions.set(entry.id, entry);
    const accounts = this.#byAccount[entry.type];
    accounts.set(entry.accountId, [...(accounts.get(entry.accountId) ?? []), entry]);
  }

  #remove(id: string): void {
    const old = this.#restrictions.get(id);
    if (old === undefined) return;
    this.#restrictions.delete(id);
    const accounts = this.#byAccount[old.type];
    const left = (accounts.get(old.accountId) ?? []).filter((entry) => entry.id !== id);
    if (left.length === 0) accounts.delete(old.accountId);
    else accounts.set(old.accountId, left);
  }
}

function noRestrictions(): Readonly<Record<RestrictionType, Map<string, readonly RestrictionEntry[]>>> {
  return { dashboard: new Map(), api: new Map(), agent: new Map(), endpoints: new Map() };
}
