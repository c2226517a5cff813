import type { CidrSet } from '../../lib/ip/cidr-set.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { TrafficObserver } from '../engine.ts';
import type { IdleWatch } from './idle-watch.ts';
import type { OpenTunnels } from './open-tunnels.ts';
import type { HostTable } from './routing/host-table.ts';
import type { BackendTable } from './upstream/backend-table.ts';

export interface GatewayLog {
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** All that is needed to decide on a request and carry it out. */
export interface Gate {
  readonly hosts: HostTable;
  readonly backends: BackendTable;
  readonly access: AccessTable;
  readonly tunnels: OpenTunnels;
  readonly observer: TrafficObserver;
  readonly log: GatewayLog;
  readonly trustedProxies: CidrSet;
  readonly watch: IdleWatch;
  readonly idleMs: number;
  /** What stands before the number of an error: `ERR_GATEHOUSE`. */
  readonly errorPrefix: string;
  /** True: every answer asks the client to open a new connection. */
  draining: boolean;
}
