import type { CidrSet } from '../../lib/ip/cidr-set.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { ResponseEncoders } from '../bounds/response-encoders.ts';
import type { GatewayLog, TrafficObserver } from '../engine.ts';
import type { IdleWatch } from './idle-watch.ts';
import type { OpenTunnels } from './open-tunnels.ts';
import type { HostTable } from './routing/host-table.ts';
import type { BackendTable } from './upstream/backend-table.ts';

/** The parts and settings that are needed to decide on a request and carry it out. */
export interface RequestContext {
  readonly hosts: HostTable;
  readonly backends: BackendTable;
  readonly encoders: ResponseEncoders;
  readonly access: AccessTable;
  readonly tunnels: OpenTunnels;
  readonly observer: TrafficObserver;
  readonly log: GatewayLog;
  readonly trustedProxies: CidrSet;
  readonly watch: IdleWatch;
  readonly idleMs: number;
  /** Prefix of error codes, such as `ERR_GATEHOUSE`. */
  readonly errorPrefix: string;
  /** True while the gateway drains: every answer asks the client to open a new connection. */
  draining: boolean;
}
