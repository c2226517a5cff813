import type { IpAddress } from '../lib/ip/address.ts';
import { CidrSet, packCidrs } from '../lib/ip/cidr-set.ts';
import { parseCidr } from '../lib/ip/cidr.ts';
import { restrictionTypes, ruleFlag } from './contract.ts';
import type {
  PolicyEntry,
  RestrictionEntry,
  RestrictionType,
  SetAside,
  SnapshotFollower,
  SnapshotUpdate,
} from './contract.ts';

/** The verdict of an account's restrictions of one type on an address. */
export interface AccessVerdict {
  /** The id of the first enforced restriction that refuses; undefined when none does. */
  readonly refusedBy: string | undefined;
  /** Ids of restrictions that are not enforced and would have refused. */
  readonly warnedBy: readonly string[];
}

/** A policy as it is in force; one that cannot be loaded denies every address. */
interface LoadedPolicy {
  readonly rules: CidrSet;
  readonly isLoaded: boolean;
}

/** A restriction as it is in force; one that cannot be loaded applies to traffic of every type and refuses all of it. */
interface LoadedRestriction {
  readonly entry: RestrictionEntry;
  readonly types: readonly RestrictionType[];
}

const noWarnings: readonly string[] = [];
const admitted: AccessVerdict = { refusedBy: undefined, warnedBy: noWarnings };

/** Denies everything, also together with policies that allow it. */
const unloadedPolicy: LoadedPolicy = { rules: denyAll(), isLoaded: false };

/** The IP policies and restrictions in force, which decide about addresses for the API and traffic alike. */
export class AccessTable implements SnapshotFollower {
  /** Version of the configuration that the rules are of. */
  version = 0;
  #policies = new Map<string, LoadedPolicy>();
  #restrictions = new Map<string, LoadedRestriction>();
  /** Restrictions by type, then by account. An account without any has no entry: the common case is one failed lookup. */
  #byAccount = noRestrictions();

  prepare(update: SnapshotUpdate, setAside: SetAside): () => void {
    const policies = new Map<string, LoadedPolicy>();
    const restrictions: LoadedRestriction[] = [];
    for (const entry of update.set) {
      if (entry.kind === 'policy') policies.set(entry.id, loadPolicy(entry, setAside));
      if (entry.kind === 'restriction') restrictions.push(loadRestriction(entry, setAside));
    }
    return () => {
      this.#swap(update, policies, restrictions);
    };
  }

  /** Allows an address if an allow rule of any of the policies matches and no deny rule does. */
  allows(policyIds: readonly string[], source: IpAddress): boolean {
    let flags = 0;
    for (const id of policyIds) flags |= this.#policies.get(id)?.rules.lookup(source) ?? 0;
    return flags === ruleFlag.allow;
  }

  denies(policyIds: readonly string[], source: IpAddress): boolean {
    return policyIds.some(
      (id) => ((this.#policies.get(id)?.rules.lookup(source) ?? ruleFlag.deny) & ruleFlag.deny) !== 0,
    );
  }

  /** True where one of the policies cannot be loaded, and therefore refuses. */
  isUnloadable(policyIds: readonly string[]): boolean {
    return policyIds.some((id) => this.#policies.get(id)?.isLoaded === false);
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

  /** False for a restriction that refuses because it, or one of its policies, cannot be loaded. */
  isLoaded(restrictionId: string): boolean {
    const restriction = this.#restrictions.get(restrictionId);
    return (
      restriction === undefined || (restriction.types.length === 1 && !this.isUnloadable(restriction.entry.policyIds))
    );
  }

  #swap(
    update: SnapshotUpdate,
    policies: ReadonlyMap<string, LoadedPolicy>,
    restrictions: readonly LoadedRestriction[],
  ): void {
    this.version = update.version;
    if (update.full) {
      this.#policies = new Map();
      this.#restrictions = new Map();
      this.#byAccount = noRestrictions();
    }
    for (const [id, policy] of policies) this.#policies.set(id, policy);
    for (const restriction of restrictions) this.#add(restriction);
    for (const { kind, id } of update.removed) {
      if (kind === 'policy') this.#policies.delete(id);
      if (kind === 'restriction') this.#remove(id);
    }
  }

  #add(restriction: LoadedRestriction): void {
    const { entry, types } = restriction;
    this.#remove(entry.id);
    this.#restrictions.set(entry.id, restriction);
    for (const type of types) {
      const accounts = this.#byAccount[type];
      accounts.set(entry.accountId, [...(accounts.get(entry.accountId) ?? []), entry]);
    }
  }

  #remove(id: string): void {
    const old = this.#restrictions.get(id);
    if (old === undefined) return;
    this.#restrictions.delete(id);
    const { accountId } = old.entry;
    for (const type of old.types) {
      const accounts = this.#byAccount[type];
      const left = (accounts.get(accountId) ?? []).filter((entry) => entry.id !== id);
      if (left.length === 0) accounts.delete(accountId);
      else accounts.set(accountId, left);
    }
  }
}

function loadPolicy(entry: PolicyEntry, setAside: SetAside): LoadedPolicy {
  try {
    if (entry.fault !== undefined) throw new Error(entry.fault);
    return { rules: new CidrSet(entry.rules), isLoaded: true };
  } catch (error) {
    setAside(entry, error);
    return unloadedPolicy;
  }
}

/** A type of a newer version may be about any traffic: an account with a restriction of such a type is closed. */
function loadRestriction(entry: RestrictionEntry, setAside: SetAside): LoadedRestriction {
  if (restrictionTypes.includes(entry.type)) return { entry, types: [entry.type] };
  setAside(entry, new Error(`unknown type of restriction ${JSON.stringify(entry.type)}`));
  return { entry: { ...entry, enforced: true, policyIds: [] }, types: restrictionTypes };
}

function denyAll(): CidrSet {
  const everything = ['0.0.0.0/0', '::/0'].map((text) => {
    const parsed = parseCidr(text);
    if (!parsed.ok) throw new Error(parsed.reason);
    return { cidr: parsed.cidr, flags: ruleFlag.deny };
  });
  return new CidrSet(packCidrs(everything));
}

function noRestrictions(): Readonly<Record<RestrictionType, Map<string, readonly RestrictionEntry[]>>> {
  return { dashboard: new Map(), api: new Map(), agent: new Map(), endpoints: new Map() };
}
