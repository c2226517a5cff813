import type { GatewayLog, TrafficObserver } from '../engine.ts';
import type { GatewayBounds } from './bound.ts';
import { BoundReports } from './bound-reports.ts';
import { ClientConnections } from './client-connections.ts';
import { ResponseEncoders } from './response-encoders.ts';
import { UpstreamConnections } from './upstream-connections.ts';

/** The bounds of one engine, which its fronts share. */
export interface EngineBounds {
  readonly limits: GatewayBounds;
  readonly reports: BoundReports;
  readonly clients: ClientConnections;
  readonly upstreams: UpstreamConnections;
  readonly encoders: ResponseEncoders;
}

export function createEngineBounds(limits: GatewayBounds, observer: TrafficObserver, log: GatewayLog): EngineBounds {
  const reports = new BoundReports(observer, log);
  reports.watch('stream_resets', limits.streamResets);
  return {
    limits,
    reports,
    clients: new ClientConnections(limits, reports),
    upstreams: new UpstreamConnections(limits, reports),
    encoders: new ResponseEncoders(limits, reports),
  };
}
