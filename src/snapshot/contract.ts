import type { CidrSetData } from '../lib/ip/cidr-set.ts';
import type { CertificatePair } from './local-ca.ts';

/**
 * One thing of the gateway's configuration, whole, as plain data that can be sent to a thread or process. Entries refer
 * to each other by id only, so that a change of one never touches another.
 */
export type SnapshotEntry =
  | PolicyEntry
  | RestrictionEntry
  | BackendEntry
  | TunnelBackendEntry
  | BackendGroupEntry
  | FixedAnswerEntry
  | CertificateEntry
  | ChallengeEntry
  | TcpEdgeEntry
  | HttpsEdgeEntry
  | TlsEndpointEntry
  | InternalEndpointEntry
  | VisitorKeyEntry
  | EndedSessionEntry
  | VaultEntry
  | VaultSecretEntry
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

/** Part of the entries that may come of observations: such a one is stale after a restart, so that no file keeps it. */
interface Observable {
  readonly observed?: true;
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
  /** Files of older versions do not say. */
  readonly accountId?: string;
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Undefined: there is one address, and nobody watches it. */
  readonly balance?: BalanceEntry;
}

/** How the addresses of one backend share its traffic, and how they are watched. */
export interface BalanceEntry {
  /** The first is that of the backend itself. */
  readonly addresses: readonly AddressEntry[];
  readonly by: 'round_robin' | 'least_connections' | 'source' | 'header';
  /** In lower case, for `header`. */
  readonly header?: string;
  /** Further addresses that a request which may be repeated is sent to. */
  readonly retries: number;
  readonly whenAllDown: 'fail_open' | 'fail_closed';
  /** Time in which an address that came back grows to its whole share; 0: at once. */
  readonly slowStartMs: number;
  readonly passive?: PassiveCheckEntry;
  readonly active?: ActiveCheckEntry;
}

export interface AddressEntry {
  readonly host: string;
  readonly port: number;
  /** 0: gets nothing, but is checked. */
  readonly weight: number;
}

/** First and last of a range of status codes. */
export type StatusRange = readonly [first: number, last: number];

export interface PassiveCheckEntry {
  /** So many in a row take an address out. */
  readonly failures: number;
  /** Answers that count as failures, besides connections that fail or break. */
  readonly statuses: readonly StatusRange[];
  /** Time until a request tries it again. */
  readonly downMs: number;
}

export interface ActiveCheckEntry {
  readonly kind: 'http' | 'tcp';
  readonly path: string;
  /** For the header Host; undefined: the address. */
  readonly host?: string;
  /** Answers that are good. */
  readonly statuses: readonly StatusRange[];
  readonly intervalMs: number;
  readonly timeoutMs: number;
  /** So many in a row take an address out, or bring it back. */
  readonly failures: number;
  readonly passes: number;
}

/** A tunnel of an agent that is online: a way to the program behind the agent. */
export interface TunnelRef {
  /** Id of the tunnel, `tn_…`. */
  readonly id: string;
  /** Id of the process that holds the session of the agent, as in `ProcessEntry`. */
  readonly holder: string;
}

/** A backend that is reached through agents: visitors are spread over its tunnels. It may have none at the moment. */
export interface TunnelBackendEntry extends Observable {
  readonly kind: 'tunnel_backend';
  /** Id of the backend or endpoint that the module `backend` of an edge or route names. */
  readonly id: string;
  readonly tunnels: readonly TunnelRef[];
  /** True if an agent of it was disconnected not long ago: what it had is kept for it, and visitors may wait for it. */
  readonly isExpected?: true;
  /** Version of the PROXY protocol whose header each connection must start with. Such connections are not shared by clients. */
  readonly proxyProtocol?: 1 | 2;
}

/** A backend that stands for others, which may be groups again. */
export interface BackendGroupEntry {
  readonly kind: 'backend_group';
  readonly id: string;
  /** One is chosen by its weight, or the first that can be reached is. */
  readonly choice: 'weighted' | 'failover';
  readonly members: readonly { readonly id: string; readonly weight: number }[];
}

/** A backend that is an answer itself. */
export interface FixedAnswerEntry {
  readonly kind: 'fixed_answer';
  readonly id: string;
  readonly status: number;
  /** Latin-1. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string;
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

/** The proof that a certificate authority asks for while it issues a certificate for the name. Every gateway can give it. */
export interface ChallengeEntry extends Observable {
  readonly kind: 'challenge';
  /** Id of the order, and the name. */
  readonly id: string;
  /** Lower case. */
  readonly hostname: string;
  /** The last part of the path that the authority asks for over plain HTTP, and the text it wants to read there. */
  readonly http?: { readonly token: string; readonly text: string };
  /** Shown in TLS handshakes for the name whose only protocol is `acme-tls/1` (RFC 8737). */
  readonly tls?: CertificatePair;
}

/** Settings by module name, as `src/modules/` stores them; a name not known there closes the edge. */
export type ModuleSettings = Readonly<Record<string, unknown>>;

export interface TcpEdgeEntry extends Observable {
  readonly kind: 'tcp_edge';
  readonly id: string;
  readonly accountId: string;
  readonly ports: readonly number[];
  readonly modules: ModuleSettings;
  /** As in `HttpsEdgeEntry`. */
  readonly isPooled?: true;
}

export interface HttpsEdgeEntry extends Observable {
  readonly kind: 'https_edge';
  readonly id: string;
  readonly accountId: string;
  /** `name:port`, lower case; a name may start with `*.`. */
  readonly hostports: readonly string[];
  readonly routes: readonly RouteEntry[];
  /** True: visitors may come without TLS too. `only`: they come without it. */
  readonly plain?: true | 'only';
  /** Endpoints of the account that say the same may have its names too: each visitor is sent to one of them. */
  readonly isPooled?: true;
}

/** A TLS edge, or such an endpoint of an agent. Passes TLS connections to the HTTPS listener on, by the server name that they ask for. */
export interface TlsEndpointEntry extends Compiled, Observable {
  readonly kind: 'tls_endpoint';
  readonly id: string;
  readonly accountId: string;
  /** Lower case; one may start with `*.`. */
  readonly names: readonly string[];
  /** Only those that admit by address, or are about TLS and the backend, take effect: nothing else of the connection is read. */
  readonly modules: ModuleSettings;
  /** TLS ends at the gateway: with this pair, or with a certificate of its own. Undefined: bytes pass as they are. */
  readonly termination?: { readonly pair?: CertificatePair };
  /** As in `HttpsEdgeEntry`. */
  readonly isPooled?: true;
}

/** An endpoint that no listener reaches: others of its account forward to it. Several may have one URL, and share its visitors. */
export interface InternalEndpointEntry extends Observable {
  readonly kind: 'internal_endpoint';
  readonly id: string;
  readonly accountId: string;
  /** In its shortest form, such as `https://app.internal`; the first label of the host may be `*`. */
  readonly url: string;
  readonly modules: ModuleSettings;
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
  readonly kind: 'api' | 'metrics' | 'https' | 'http' | 'tcp' | 'agents' | 'links';
  readonly host: string;
  /** 0 for `tcp`: the ports of all TCP edges. */
  readonly port: number;
  /** Where other processes reach it, if that is another address. */
  readonly advertised?: { readonly host: string; readonly port: number };
}

/** Keys for sessions of visitors, which all processes share. The newest seals and signs, the others only open and verify. */
export interface VisitorKeyEntry extends Compiled {
  readonly kind: 'visitor_key';
  /** A number; the highest is that of the newest. */
  readonly id: string;
  /** 32 bytes, base64. */
  readonly secret: string;
  /** A private key for signatures with ES256, as a JWK in JSON. */
  readonly privateJwk: string;
}

/** A session of a visitor that was ended before its time, or all those of an account, an edge or a person until some time. */
export interface EndedSessionEntry {
  readonly kind: 'ended_session';
  /** Of the session; with `begunUntil`, of the account or edge, or the name of the person. */
  readonly id: string;
  /** Sessions that were begun until then, in seconds since 1970, have ended. */
  readonly begunUntil?: number;
}

/** A vault, whose name policies use. */
export interface VaultEntry {
  readonly kind: 'vault';
  readonly id: string;
  readonly accountId: string;
  readonly name: string;
}

export interface VaultSecretEntry extends Compiled {
  readonly kind: 'vault_secret';
  readonly id: string;
  readonly vaultId: string;
  readonly name: string;
  readonly value: string;
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
  /** The mark of that version in the history of the database; absent in files of older releases. */
  readonly mark?: number;
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
