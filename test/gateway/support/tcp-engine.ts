import type { TestContext } from 'node:test';

import type { BoundReport } from '../../../src/lib/bound-reports.ts';
import type { Bound } from '../../../src/gateway/bounds/bound.ts';
import type {
  BackendRefused,
  GatewayLog,
  GatewayOptions,
  RateReport,
  TcpClosed,
  TrafficObserver,
  TcpOpened,
  Verdict,
  WrongPassword,
} from '../../../src/gateway/engine.ts';
import { createNodeEngine } from '../../../src/gateway/node-engine.ts';
import type { NodeEngine, NodeEngineParts } from '../../../src/gateway/node-engine.ts';
import { formatIp } from '../../../src/lib/ip/address.ts';
import { CidrSet } from '../../../src/lib/ip/cidr-set.ts';
import type { EntryFault } from '../../../src/snapshot/set-aside.ts';
import { wideBounds } from './bounds.ts';
import { packRules } from './tcp-entries.ts';

interface Fault {
  readonly edgeId: string;
  readonly port: number;
  readonly cause: string | undefined;
}

/** Records the events of the gateway. */
export class Recorder implements TrafficObserver {
  readonly verdicts: Verdict[] = [];
  readonly warnings: string[] = [];
  readonly closed: TcpClosed[] = [];
  readonly faults: Fault[] = [];
  readonly entryFaults: EntryFault[] = [];
  readonly errors: string[] = [];
  readonly infos: string[] = [];
  readonly backendsRefused: BackendRefused[] = [];
  readonly passwords: string[] = [];
  ownArrivals = 0;
  /** Why connections were refused, beside each verdict. */
  readonly reasons: (string | undefined)[] = [];
  /** Number of connections that rate limits have counted. */
  counted = 0;
  /** Fields of the warnings in the log. */
  readonly logged: object[] = [];
  /** How often each bound has refused something, and how much of it was in use at the last report. */
  readonly refused: Partial<Record<Bound, number>> = {};
  readonly inUse: Partial<Record<Bound, number>> = {};
  readonly limits: Partial<Record<Bound, number>> = {};

  readonly log: GatewayLog = {
    info: (_fields, message) => this.infos.push(message),
    warn: (fields) => this.logged.push(fields),
    error: (_fields, message) => this.errors.push(message),
  };

  warned(restrictionIds: readonly string[], source: Parameters<TrafficObserver['warned']>[1]): void {
    for (const id of restrictionIds) this.warnings.push(`${id} ${formatIp(source)}`);
  }

  tcpOpened({ verdict, reason }: TcpOpened): void {
    this.verdicts.push(verdict);
    this.reasons.push(reason);
  }

  tcpClosed(event: TcpClosed): void {
    this.closed.push(event);
  }

  httpsOpened(): void {}

  httpsClosed(): void {}

  httpAnswered(): void {}

  handshakeFailed(): void {}

  backendRefused(event: BackendRefused): void {
    this.backendsRefused.push(event);
  }

  passwordRefused({ edgeId, source }: WrongPassword, answer: string): void {
    this.passwords.push(`${edgeId} ${source} ${answer}`);
  }

  visitorSeen(): void {}

  visitorLeft(): void {}

  ratesCounted(reports: readonly RateReport[]): void {
    for (const { counted } of reports) for (const [, connections] of counted) this.counted += connections;
  }

  inspected(): void {}

  ownArrivalReset(): void {
    this.ownArrivals++;
  }

  boundsReported(reports: readonly BoundReport<Bound>[]): void {
    for (const { bound, limit, inUse, refused } of reports) {
      this.refused[bound] = (this.refused[bound] ?? 0) + refused;
      this.inUse[bound] = inUse;
      this.limits[bound] = limit;
    }
  }

  listenerFault({ edgeId, port, cause }: Parameters<TrafficObserver['listenerFault']>[0]): void {
    this.faults.push({ edgeId, port, cause: cause?.message });
  }

  entryFault(event: EntryFault): void {
    this.entryFaults.push(event);
  }

  /** The entries that are set aside now, with the reason. */
  get setAside(): readonly string[] {
    const now = new Map(this.entryFaults.map(({ kind, id, cause }) => [`${kind} ${id}`, cause]));
    return [...now].flatMap(([key, cause]) => (cause === undefined ? [] : `${key}: ${cause.message}`));
  }
}

/** A connection that is idle is reset as one that is refused: no test that waits for the latter must see the former. */
export const plainOptions = {
  tcpListenHost: '127.0.0.1',
  https: undefined,
  http: undefined,
  proxyProtocol: { tcp: false, https: false, http: false },
  sharePorts: false,
  inward: { listeners: [], publicPorts: [], ownAddresses: {}, allowLinkLocal: false, networkId: '' },
  timeouts: { headersMs: 60_000, upstreamConnectMs: 60_000, idleMs: 3_600_000, keepAliveMs: 60_000 },
  bounds: wideBounds,
} satisfies Omit<GatewayOptions, 'trustedProxies'>;

export interface Gateway {
  readonly engine: NodeEngine;
  readonly seen: Recorder;
}

export async function startGateway(
  t: TestContext,
  more: Partial<GatewayOptions> = {},
  trusted: readonly string[] = [],
  parts: Pick<NodeEngineParts, 'lookup' | 'dialer'> = {},
): Promise<Gateway> {
  const seen = new Recorder();
  const options = { ...plainOptions, trustedProxies: new CidrSet(packRules(trusted)), ...more };
  const engine = await createNodeEngine({ ...parts, options, observer: seen, log: seen.log, certificates: undefined });
  t.after(() => engine.drain(0));
  return { engine, seen };
}

/** Waits for the condition; fails after a time that is long enough for any machine. */
export async function until(condition: () => boolean, what: string): Promise<void> {
  const deadline = performance.now() + 120_000;
  while (!condition()) {
    if (performance.now() > deadline) throw new Error(`still not so after 120 s: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
