import type { GatewayLog, TrafficObserver } from '../engine.ts';
import { AgentWaits } from './agent-waits.ts';
import type { GatewayBoundReports, GatewayBounds } from './bound.ts';
import { ClientConnections } from './client-connections.ts';
import { HeldBodies } from './held-bodies.ts';
import { RateCounts } from './rate-counts.ts';
import { reportBounds } from './report-bounds.ts';
import { ResponseEncoders } from './response-encoders.ts';
import { UpstreamConnections } from './upstream-connections.ts';

/** The bounds of one engine, which its fronts share. */
export interface EngineBounds {
  readonly limits: GatewayBounds;
  /** Changes the limits. Connections that are open stay, but for idle ones of clients that are now too many. */
  readonly change: (limits: GatewayBounds) => void;
  readonly reports: GatewayBoundReports;
  readonly clients: ClientConnections;
  readonly upstreams: UpstreamConnections;
  readonly encoders: ResponseEncoders;
  readonly waits: AgentWaits;
  readonly heldBodies: HeldBodies;
  readonly rates: RateCounts;
}

export function createEngineBounds(given: GatewayBounds, observer: TrafficObserver, log: GatewayLog): EngineBounds {
  const limits = { ...given };
  const reports = reportBounds(observer, log);
  const clients = new ClientConnections(limits, reports);
  reports.watch('stream_resets', limits.streamResets);
  return {
    limits,
    change: (changed) => {
      Object.assign(limits, changed);
      clients.makeRoom();
    },
    reports,
    clients,
    upstreams: new UpstreamConnections(limits, reports),
    encoders: new ResponseEncoders(limits, reports),
    waits: new AgentWaits(limits, reports),
    heldBodies: new HeldBodies(),
    rates: new RateCounts(observer),
  };
}
