import type { Socket } from 'node:net';

import type { Awaitable } from '../lib/awaitable.ts';
import type { ListenAddress } from '../lib/host-port.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import type { CidrSet, CidrSetData } from '../lib/ip/cidr-set.ts';
import type { LeftSession, VisitorSession } from '../modules/sign-in.ts';
import type { OwnAnswer } from '../modules/step.ts';
import type { Listener, SnapshotFollower, SnapshotUpdate } from '../snapshot/contract.ts';
import type { EntryFault } from '../snapshot/set-aside.ts';
import type { BoundReport } from '../lib/bound-reports.ts';
import type { Bound, GatewayBounds } from './bounds/bound.ts';

/**
 * Moves traffic as its snapshot says. Implementations know nothing of the API or the database; the tests in `test/gateway/`
 * are written against this interface.
 */
export interface Engine {
  /** The version in force, 0 before the first update. */
  readonly version: number;
  /** Open connections of clients to listeners of this process. */
  readonly clientCount: number;
  /**
   * Resolves when traffic obeys the update. Rejects, with the last good snapshot still in force, if it cannot. An entry that
   * cannot be loaded is no reason: it is set aside and reported, and what it decides about is closed.
   */
  apply(update: SnapshotUpdate): Promise<void>;
  /** Stops accepting, lets open requests and connections end for at most `limitMs`, then closes what is left. */
  drain(limitMs: number): Promise<void>;
  /**
   * True if the gateway itself made this connection, which has arrived at a listener of this process: it must be reset, and
   * nothing that it brings may be read.
   */
  isOurs(arrived: Socket, port: number): Awaitable<boolean>;
  /** Counts requests and connections that other gateways have let in. */
  countRates(reports: readonly RateReport[]): void;
  /** Records requests of these from now on, and of no others. */
  inspect(terms: readonly InspectionTerms[]): void;
  /** Sends a recorded request again, as its edge serves it. */
  replay(request: ReplayRequest): Promise<ReplayOutcome>;
}

export interface GatewayOptions {
  /** TCP edges listen on this address, each on its own ports. */
  readonly tcpListenHost: string;
  readonly https: ListenAddress | undefined;
  /** A plain-HTTP listener that only redirects to HTTPS. */
  readonly http: ListenAddress | undefined;
  readonly trustedProxies: CidrSet;
  /** Kinds of listeners that expect a PROXY protocol header from trusted peers. */
  readonly proxyProtocol: { readonly tcp: boolean; readonly https: boolean; readonly http: boolean };
  /** 48 bytes that TLS sessions are sealed by, where several processes must know each other's. */
  readonly ticketKeys?: Uint8Array;
  /** True where several processes listen on one port (SO_REUSEPORT). */
  readonly sharePorts: boolean;
  /** PEM of authorities that TLS backends are verified by, besides those Node trusts by itself. */
  readonly upstreamAuthorities?: readonly string[];
  /** True: a public name without a certificate gets a TLS alert, in place of a leaf of the local CA. */
  readonly refusesPublicNames?: boolean;
  /** Wrong passwords that one source may give at one endpoint within a minute; undefined: any number. */
  readonly passwordFailures?: number | undefined;
  /** File with places of addresses, which workers open for themselves. */
  readonly geoDatabase?: string | undefined;
  /** Name of the region, as rules of policies read it. */
  readonly region?: string;
  /** Hosts that rules may ask beside internal endpoints. */
  readonly policyRequestHosts?: readonly string[];
  readonly timeouts: GatewayTimeouts;
  readonly bounds: GatewayBounds;
  readonly inward: InwardOptions;
}

/** Places that no backend may lead to, besides the listeners that the snapshot names. */
export interface InwardOptions {
  /** All listeners of this process; a port that the system chooses is 0. */
  readonly listeners: readonly Listener[];
  /** Ports by which the world reaches the installation through a proxy in front. */
  readonly publicPorts: readonly number[];
  /** Addresses that lead to the installation without being on a machine of it. */
  readonly ownAddresses: CidrSetData;
  readonly allowLinkLocal: boolean;
  /** As in `Machine`. */
  readonly networkId: string;
}

export interface GatewayTimeouts {
  /** Limit for each of a client's TLS handshake, PROXY header and request head. */
  readonly headersMs: number;
  readonly upstreamConnectMs: number;
  /** Longest time without a byte on an open exchange or TCP connection. */
  readonly idleMs: number;
  /** Longest time that a connection is kept open without a request. */
  readonly keepAliveMs: number;
}

/** A part of the engine that serves one kind of listener. */
export interface Front extends SnapshotFollower {
  /** Drops what `prepare` has built since the last swap. Called when its swap is not going to happen. */
  abandon?(): void;
  /**
   * Puts what is open to the rules in force, in slices. Called in the turn in which an update was swapped in; resolves when all obeys it.
   */
  checkOpen(): Promise<void>;
  drain(limitMs: number): Promise<void>;
}

/** The methods of a pino logger that the gateway uses. */
export interface GatewayLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** `refused_unloadable`: the edge, or a rule that it depends on, cannot be loaded. */
export type Verdict =
  | 'allowed'
  | 'refused_by_restriction'
  | 'refused_by_module'
  | 'refused_by_rate_limit'
  | 'refused_by_certificate'
  | 'refused_unloadable';

/** Receives events of the traffic: metrics, access log and warnings are made of them elsewhere. */
export interface TrafficObserver {
  /** The source was let in, but these restrictions would have refused it if they were enforced. */
  warned(restrictionIds: readonly string[], source: IpAddress): void;
  tcpOpened(event: TcpOpened, decision: TcpDecision): void;
  /** Follows every `tcpOpened` that was allowed. Without a decision, its process ended before it could say more. */
  tcpClosed(event: TcpClosed, decision?: TcpDecision): void;
  /** A connection to the HTTPS listener was accepted, whatever comes of it. */
  httpsOpened(): void;
  httpsClosed(): void;
  httpAnswered(event: HttpAnswered, decision: HttpDecision): void;
  /** A connection to the HTTPS listener ended before it could carry a request. */
  handshakeFailed(event: HandshakeFailed): void;
  /** Bounds whose use has changed, or that have refused something, at most once a second. */
  boundsReported(reports: readonly BoundReport<Bound>[]): void;
  /** A listener of a TCP edge could not be opened, or works again (undefined). */
  listenerFault(event: ListenerFault): void;
  entryFault(event: EntryFault): void;
  /** A connection to a backend was not made, because it leads inwards. */
  backendRefused(event: BackendRefused): void;
  /** A password was wrong, or was not looked at because too many before it were. */
  passwordRefused(wrong: WrongPassword, answer: 'checked' | 'unchecked'): void;
  /** A visitor has signed in, or a session was used again after a while. */
  visitorSeen(session: VisitorSession): void;
  /** A visitor has signed out, or the provider says that the login does not hold any more. */
  visitorLeft(session: LeftSession): void;
  /** Requests and connections that rate limits have counted here since the last report. */
  ratesCounted(reports: readonly RateReport[]): void;
  /** A request that was to be recorded is over. */
  inspected(request: InspectedRequest): void;
  /** A connection was reset on arrival, because the gateway itself had made it. */
  ownArrivalReset(): void;
}

/**
 * `unknown_name`: no edge has the name, and no certificate is for it. `no_certificate`: an edge has this public name, there is
 * no certificate, and the local CA may not stand in. `no_name`: the client named no server. `plain_http`: it did not speak TLS,
 * but HTTP. `no_leaf`: a certificate could not be made in time. `client`: it broke off, or wanted what is not offered.
 */
export type HandshakeFault = 'unknown_name' | 'no_certificate' | 'no_name' | 'plain_http' | 'no_leaf' | 'client';

export interface HandshakeFailed {
  readonly reason: HandshakeFault;
  /** As the client sent it; empty where it did not. */
  readonly name: string;
  readonly source: string;
  /** What is wrong with the certificates that rules name. */
  readonly cause?: string;
}

export interface WrongPassword {
  readonly edgeId: string;
  /** The address, or the /64 of an IPv6 address; as `formatSourceKey` writes it. */
  readonly source: string;
}

export interface RateReport {
  /** The same in every process: edge or route, and how it counts. */
  readonly rule: string;
  /** Number of the window since 1970. */
  readonly window: number;
  /** Numbers that were let in, by key. */
  readonly counted: readonly (readonly [key: string, requests: number])[];
  readonly refused: number;
  /** Requests that would have been refused if the rule were enforced. */
  readonly warned: number;
}

/** A route, edge or endpoint whose requests are recorded until the end. */
export interface InspectionTerms {
  readonly id: string;
  readonly accountId: string;
  readonly subjectId: string;
  readonly endsAtMs: number;
}

/** Headers and body of a request or answer, with secrets masked. */
export interface InspectedMessage {
  /** Name, value, name, value, … */
  readonly headers: readonly string[];
  readonly bodyBytes: number;
  /** Undefined where there is none, or none that is text. */
  readonly body?: string;
  readonly isBodyWhole: boolean;
}

export interface InspectedRequest {
  readonly inspectionId: string;
  readonly accountId: string;
  readonly id: string;
  readonly atMs: number;
  readonly edgeId: string;
  readonly routeId: string;
  readonly source: string;
  readonly method: string;
  readonly target: string;
  readonly host: string;
  readonly protocol: string;
  readonly request: InspectedMessage;
  /** Undefined where the backend gave none. */
  readonly answer: (InspectedMessage & { readonly status: number }) | undefined;
  readonly durationMs: number;
  /** False if the answer was cut off. */
  readonly isWhole: boolean;
  /** Requests before this one that were too many at once to be recorded. */
  readonly leftOut: number;
  /** The edge or endpoint that the visitor came to, which may have forwarded the request. */
  readonly entryId: string;
  readonly isTls: boolean;
  /** False if target or headers were longer than is kept. */
  readonly isHeadWhole: boolean;
  /** Set for a replay. */
  readonly replayOf: { readonly id: string; readonly isEdited: boolean } | undefined;
}

/** A request that an admin sends, made of one that was recorded. Plain data. */
export interface ReplayRequest {
  readonly accountId: string;
  /** The edge or endpoint that the first request came to. */
  readonly edgeId: string;
  readonly host: string;
  readonly isTls: boolean;
  readonly method: string;
  readonly target: string;
  /** Name, value, name, value, …, without Host and what is for one connection. */
  readonly headers: readonly string[];
  /** In base64. */
  readonly body: string;
  /** The address from which the admin has called. */
  readonly source: string;
  readonly of: string;
  readonly isEdited: boolean;
}

export type ReplayOutcome =
  /** The edge does not serve the host any more. */
  | { readonly state: 'gone' }
  | { readonly state: 'no_answer'; readonly id: string; readonly durationMs: number }
  | {
      readonly state: 'answered';
      readonly id: string;
      readonly durationMs: number;
      readonly answer: InspectedMessage & { readonly status: number };
      readonly isWhole: boolean;
    };

export interface ListenerFault {
  readonly accountId: string;
  readonly edgeId: string;
  readonly port: number;
  readonly cause: Error | undefined;
}

export interface BackendRefused {
  /** The id of the backend, or what asks a server: `sign-in`, `http-request`. */
  readonly backendId: string;
  readonly accountId: string | undefined;
  /** As the backend names it. */
  readonly host: string;
  readonly port: number;
  /** The address it leads to. */
  readonly address: string;
  /** The kind of listener, or `public`, or `link_local`. */
  readonly leadsTo: string;
}

/** Who decided about a request or connection; for those who look at traffic as it happens. */
interface Decision {
  /** Restrictions that are not enforced and would have refused the source. */
  readonly warnedBy?: readonly string[] | undefined;
  /** The module, or the action of a policy, that would have refused it if it were enforced. */
  readonly wouldRefuse?: string | undefined;
  /** The enforced restriction that refused the source. */
  readonly refusedBy?: string | undefined;
  /** The module that refused or answered in place of the backend. */
  readonly module?: string | undefined;
  /** The backend, or the endpoint of an agent, that it goes to. */
  readonly backendId?: string | undefined;
  /** Version of the configuration that was in force when it was decided. */
  readonly version?: number | undefined;
  /** Number of the worker that decided; undefined where this process did. */
  readonly worker?: number | undefined;
}

export interface HttpDecision extends Decision {
  /** Undefined where the name belongs to nobody. */
  readonly accountId: string | undefined;
  /** The message of the gateway's own error. */
  readonly reason?: string | undefined;
  /** Bytes of the bodies of the request and its answer, as the client sent and got them. */
  readonly bytesIn?: number | undefined;
  readonly bytesOut?: number | undefined;
  /** The visitor whose login was let in or refused: the e-mail address, or the subject. */
  readonly person?: string | undefined;
  /** Set where the sign-in has answered, and not the upstream: a login began, or has come back from the provider. */
  readonly login?: OwnAnswer['login'];
}

export interface TcpDecision extends Decision {
  /** The same when it is opened and when it is closed. */
  readonly connectionId: string;
  readonly accountId: string;
  /** The port, or the name in its TLS handshake. */
  readonly claim: number | string;
}

/** Told once it is known whether the connection goes on: where TLS ends at the gateway, after the handshake. */
export interface TcpOpened {
  readonly edgeId: string;
  readonly source: string;
  readonly verdict: Verdict;
  /** Why it was refused, for operators. */
  readonly reason?: string | undefined;
}

export interface TcpClosed {
  readonly edgeId: string;
  readonly source: string;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly durationMs: number;
  /** Why it ended, in one or two words: "client", "upstream", "idle", "rules changed", "connect failed", "drained". */
  readonly reason: string;
  /** Why the connection to the backend could not be opened, with its address. */
  readonly cause?: string;
}

export interface HttpAnswered {
  /** Undefined where nobody was told one. */
  readonly operationId: string | undefined;
  readonly edgeId: string | undefined;
  readonly routeId: string | undefined;
  readonly source: string;
  readonly protocol: '1.0' | '1.1' | '2';
  readonly method: string;
  readonly host: string;
  readonly path: string;
  readonly status: number;
  /** Code of the gateway's own error, if the answer is not the upstream's. */
  readonly errorCode: number | undefined;
  readonly durationMs: number;
  /** Time from sending the request upstream to its response head; undefined if no upstream was asked. */
  readonly upstreamMs: number | undefined;
}
