import type { ConnectionServices } from '../modules/step.ts';
import type { AccessTable } from '../snapshot/access.ts';
import type { EngineBounds } from './bounds/engine-bounds.ts';
import type { GatewayLog, GatewayOptions, TrafficObserver } from './engine.ts';
import type { HealthTable } from './health/health-table.ts';
import type { TunnelBackends } from './tunnels/tunnel-backends.ts';
import type { Arrivals } from './upstream/arrivals.ts';
import type { ConnectUpstream } from './upstream/connect.ts';

/** Parts of an engine that all of its fronts use. Those that follow snapshots swap before the fronts do, which go by them. */
export interface FrontParts {
  readonly options: GatewayOptions;
  readonly access: AccessTable;
  readonly observer: TrafficObserver;
  readonly log: GatewayLog;
  readonly connect: ConnectUpstream;
  readonly tunnels: TunnelBackends;
  readonly health: HealthTable;
  readonly arrivals: Arrivals;
  readonly bounds: EngineBounds;
  /** Work for steps that connections have too. */
  readonly services: ConnectionServices;
}
