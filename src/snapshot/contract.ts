import type { CidrSetData } from '../lib/ip/cidr-set.ts';

/**
 * One thing of the gateway's configuration, whole, as plain data that can be sent to a thread or process. Entries refer
 * to each other by id only, so that a change of one never touches another.
 */
export type SnapshotEntry =
  | PolicyEntry
  | RestrictionEntry
  | BackendEntry
  | CertificateEntry
  | TcpEdgeEntry
  | HttpsEdgeEntry
  | ProcessEntry;

export const restrictionTypes = ['dashboard', 'api', 'agent', 'endpoints'] as const;
export type RestrictionType = (typeof restrictionTypes)[number];

/** Flags of a rule in a `CidrSetData`; the result of a lookup is the union of the flags of all rules that match. */
export const ruleFlag = { allow: 1, deny: 2 } as const;

/** Part of the entries whose stored form may be unusable, such as a private key that does not open. */
interface Compiled {
  /** The reason why it could not be compiled. Its other fields then say nothing, and whatever depends on it is closed. */
  readonly fault?: string;
}

export interface PolicyEntry extends Compiled {
  readonly kind: 'policy';
  readonly id: string;
  readonly rules: CidrSetData;
}

export interface RestrictionEntry {
  readonly kind: 'restriction';
  readonly id: string;
  readonly accountId: string;
  readonly type: RestrictionType;
  readonly enforced: boolean;
  readonly policyIds: readonly string[];
}

export interface BackendEntry extends Compiled {
  readonly kind: 'backend';
  readonly id: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
}

export interface CertificateEntry extends Compiled {
  readonly kind: 'certificate';
  readonly id: string;
  readonly accountId: string;
  /** Leaf first. */
  readonly certificatePem: string;
  readonly privateKeyPem: string;
  /** DNS names of the leaf, lower case; one may start with `*.`. */
  readonly names: readonly string[];
}

/** Settings by module name, as `src/modules/` stores them; a name not known there closes the edge. */
export type ModuleSettings = Readonly<Record<string, unknown>>;

export interface TcpEdgeEntry {
  readonly kind: 'tcp_edge';
  readonly id: string;
  readonly accountId: string;
  readonly ports: readonly number[];
  readonly modules: ModuleSettings;
}

export interface HttpsEdgeEntry {
  readonly kind: 'https_edge';
  readonly id: string;
  readonly accountId: string;
  /** `name:port`, lower case; a name may start with `*.`. */
  readonly hostports: readonly string[];
  readonly routes: readonly RouteEntry[];
}

export interface RouteEntry {
  readonly id: string;
  readonly matchType: 'path_prefix' | 'exact_path';
  readonly match: string;
  readonly modules: ModuleSettings;
}

/** A process of the installation and where it listens. No backend may lead there. */
export interface ProcessEntry {
  readonly kind: 'running_process';
  readonly id: string;
  /** As in `Machine`. */
  readonly networkId: string;
  /** Addresses of its machine that others can reach, without the loopback ones. */
  readonly addresses: readonly string[];
  readonly listeners: readonly Listener[];
}

export interface Listener {
  readonly kind: 'api' | 'metrics' | 'https' | 'http' | 'tcp';
  readonly host: string;
  /** 0 for `tcp`: the ports of all TCP edges. */
  readonly port: number;
}

export interface EntryKey {
  readonly kind: SnapshotEntry['kind'];
  readonly id: string;
}

/** The entry's key in a map of entries of all kinds. */
export function keyOf({ kind, id }: EntryKey): string {
  return `${kind} ${id}`;
}

/** Reports an entry that cannot be loaded. */
export type SetAside = (entry: EntryKey, cause: unknown) => void;

/** The difference between one snapshot and the next. It is put in force whole or not at all. */
export interface SnapshotUpdate {
  /** The store's version that the update brings in force. */
  readonly version: number;
  /** True if the update is the whole snapshot, so that entries it does not have are gone. */
  readonly full: boolean;
  readonly set: readonly SnapshotEntry[];
  readonly removed: readonly EntryKey[];
}

/**
 * Follows the snapshot. `prepare` builds all that is new; nothing is in force until the function it returns is called. That
 * function is synchronous and does not throw, so that several followers swap together and no traffic sees half of an
 * update.
 *
 * An entry that cannot be loaded is set aside and does not hold up the others. Whatever it decides about is closed: the
 * form of it that was in force before may be laxer, so it must not stay. `prepare` throws for other faults only.
 */
export interface SnapshotFollower {
  prepare(update: SnapshotUpdate, setAside: SetAside): (() => void) | Promise<() => void>;
}
