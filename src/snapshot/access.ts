import type { IpAddress } from '../lib/ip/address.ts';
import { CidrSet } from '../lib/ip/cidr-set.ts';
import { ruleFlag } from './contract.ts';
import type { RestrictionEntry, RestrictionType, SnapshotFollower, SnapshotUpdate } from './contract.ts';

/** What the account's restrictions of one type say to an address. */
export interface AccessVerdict {
  /** The first enforced restriction that refuses; undefined when all let it pass. */
  readonly refusedBy: string | undefined;
  /** Restrictions that are not enforced and would have refused. */
  readonly warnedBy: readonly string[];
}

const noWarnings: readonly string[] = [];
const admitted: AccessVerdict = { refusedBy: undefined, warnedBy: noWarnings };

/** The IP policies and restrictions in force: the one place where an address meets rules, for API and traffic alike. */
export class AccessTable implements SnapshotFollower {
  #policies = new Map<string, CidrSet>();
  #restrictions = new Map<string, RestrictionEntry>();
  /** By account, under their type; only what exists, so that the common case of none is one failed lookup. */
  #byAccount = noRestrictions();
  #revision = 0;

  /** Another number with every change. */
  get revision(): number {
    return this.#revision;
  }

  prepare(update: SnapshotUpdate): () => void {
    const policies = new Map<string, CidrSet>();
    for (const entry of update.set) if (entry.kind === 'policy') policies.set(entry.id, new CidrSet(entry.rules));
    return () => {
      this.#swap(update, policies);
    };
  }

  /** All rules of all policies together: allowed if an allow rule matches and no deny rule does. */
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
    this.#revision += 1;
    if (update.full) {
      this.#policies = new Map();
      this.#restrictions = new Map();
      this.#byAccount = noRestrictions();
    }
    for (const [id, set] of policies) this.#policies.set(id, set);
    for (const entry of update.set) if (entry.kind === 'restriction') this.#place(entry);
    for (const { kind, id } of update.removed) {
      if (kind === 'policy') this.#policies.delete(id);
      if (kind === 'restriction') this.#displace(id);
    }
  }

  #place(entry: RestrictionEntry): void {
    this.#displace(entry.id);
    this.#restrictions.set(entry.id, entry);
    const ofType = this.#byAccount[entry.type];
    ofType.set(entry.accountId, [...(ofType.get(entry.accountId) ?? []), entry]);
  }

  #displace(id: string): void {
    const old = this.#restrictions.get(id);
    if (old === undefined) return;
    this.#restrictions.delete(id);
    const ofType = this.#byAccount[old.type];
    const left = (ofType.get(old.accountId) ?? []).filter((entry) => entry.id !== id);
    if (left.length === 0) ofType.delete(old.accountId);
    else ofType.set(old.accountId, left);
  }
}

function noRestrictions(): Readonly<Record<RestrictionType, Map<string, readonly RestrictionEntry[]>>> {
  return { dashboard: new Map(), api: new Map(), agent: new Map(), endpoints: new Map() };
}
