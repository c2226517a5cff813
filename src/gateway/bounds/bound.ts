import type { ErrorDefinition } from '../../errors/user-error.ts';
import type { BoundReports } from '../../lib/bound-reports.ts';
import {
  accountConnectionsInUse,
  backendConnectionsInUse,
  backendQueueFull,
  backendQueueOverdue,
  backendSourceConnectionsInUse,
  backendSourceQueueFull,
  linkUnread,
  responseEncodersInUse,
  tooManyClientConnections,
  tooManySourceConnections,
  tooManyStreamResets,
  tooManyWaitForAgents,
  upstreamConnectionsInUse,
} from '../errors.ts';

/** Names of bounds as metrics and the log show them: those of their settings. */
export type Bound =
  | 'client_connections'
  | 'source_connections'
  | 'upstream_connections'
  | 'account_connections'
  | 'backend_connections'
  | 'backend_source_connections'
  | 'backend_queue'
  | 'backend_source_queue'
  | 'backend_queue_seconds'
  | 'stream_resets'
  | 'response_encoders'
  | 'link_unread_mib'
  | 'agent_waiting';

/** Bounds that refuse a connection to a backend. */
export type UpstreamBound = Extract<Bound, `${string}_connections` | `backend_${string}`>;

/** The errors that clients are answered with, or that the log names where there is no answer. */
export const boundErrors: Readonly<Record<Bound, ErrorDefinition<never>>> = {
  client_connections: tooManyClientConnections,
  source_connections: tooManySourceConnections,
  upstream_connections: upstreamConnectionsInUse,
  account_connections: accountConnectionsInUse,
  backend_connections: backendConnectionsInUse,
  backend_source_connections: backendSourceConnectionsInUse,
  backend_queue: backendQueueFull,
  backend_source_queue: backendSourceQueueFull,
  backend_queue_seconds: backendQueueOverdue,
  stream_resets: tooManyStreamResets,
  response_encoders: responseEncodersInUse,
  link_unread_mib: linkUnread,
  agent_waiting: tooManyWaitForAgents,
};

/** Tells of the bounds of an engine that are reached. */
export type GatewayBoundReports = BoundReports<Bound>;

/** Each for one process. */
export interface GatewayBounds {
  /** Connections of clients to all listeners together. */
  readonly clientConnections: number;
  /** Connections from one IPv4 address, or one /64 network of IPv6. */
  readonly sourceConnections: number;
  /** Connections to all backends together, idle ones among them. */
  readonly upstreamConnections: number;
  /** Connections in use at once to the backends of one account. */
  readonly accountConnections: number;
  /** Connections in use at once to one backend. */
  readonly backendConnections: number;
  /** Connections in use at once to one backend by one source, as in `sourceConnections`. */
  readonly backendSourceConnections: number;
  /** Requests that may wait for a connection to one backend. */
  readonly backendQueue: number;
  /** Requests of one source that may wait for a connection to one backend. */
  readonly backendSourceQueue: number;
  readonly backendQueueMs: number;
  /** Requests of one HTTP/2 connection that its client may cancel at once before an answer; see `ResetBudget`. */
  readonly streamResets: number;
  /** Responses that are encoded at once; one account has a quarter of them. */
  readonly responseEncoders: number;
  /** MiB that the visitors of agents may leave unread on one link, to a worker or to another process. */
  readonly linkUnreadMib: number;
  /** Time for which a visitor may wait for an agent that is on its way back; 0: nobody waits. */
  readonly agentWaitMs: number;
  /** Visitors that wait at once; one account has a quarter of them. */
  readonly agentWaiting: number;
}

/** Reads a limit, which may be changed. */
export function limitOf(limits: GatewayBounds, name: keyof GatewayBounds): () => number {
  return () => limits[name];
}
