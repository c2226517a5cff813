import type { CidrSet } from '../../lib/ip/cidr-set.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { HeldBodies } from '../bounds/held-bodies.ts';
import type { ResponseEncoders } from '../bounds/response-encoders.ts';
import type { GatewayLog, TrafficObserver } from '../engine.ts';
import type { StepServices } from '../../modules/step.ts';
import type { Visitors } from '../sign-in/visitors.ts';
import type { IdleWatch } from './idle-watch.ts';
import type { OpenTunnels } from './open-tunnels.ts';
import type { RequestInspector } from './inspect-requests.ts';
import type { HostTable } from './routing/host-table.ts';
import type { Exchange } from './exchange.ts';
import type { TunnelBackends } from '../tunnels/tunnel-backends.ts';
import type { BackendTable } from './upstream/backend-table.ts';
import type { WrongPasswords } from './wrong-passwords.ts';

/** The parts and settings that are needed to decide on a request and carry it out. */
export interface RequestContext {
  readonly hosts: HostTable;
  readonly backends: BackendTable;
  /** Backends that are reached through agents. */
  readonly tunnels: TunnelBackends;
  readonly encoders: ResponseEncoders;
  readonly heldBodies: HeldBodies;
  readonly access: AccessTable;
  readonly openTunnels: OpenTunnels;
  readonly services: StepServices;
  readonly passwords: WrongPasswords;
  readonly visitors: Visitors;
  readonly observer: TrafficObserver;
  readonly inspector: RequestInspector;
  readonly log: GatewayLog;
  readonly trustedProxies: CidrSet;
  readonly watch: IdleWatch;
  readonly idleMs: number;
  /** Prefix of error codes, such as `ERR_GATEHOUSE`. */
  readonly errorPrefix: string;
  /** True while the gateway drains: every answer asks the client to open a new connection. */
  draining: boolean;
  /** So many more answers of HTTP/1 do the same. */
  toClose: number;
}

/** True if the answer must ask the client to open a new connection. Asked once for each answer. */
export function endsConnection(
  context: RequestContext,
  { protocol, own, replay }: Pick<Exchange, 'protocol' | 'own' | 'replay'>,
): boolean {
  if (context.draining) return true;
  if (context.toClose === 0 || protocol === '2' || own !== undefined || replay !== undefined) return false;
  context.toClose -= 1;
  return true;
}
