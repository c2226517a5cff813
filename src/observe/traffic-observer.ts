import type { GatewayLog, TrafficObserver, WrongPassword } from '../gateway/engine.ts';
import { BoundedCache } from '../lib/bounded-cache.ts';
import { hasElapsed } from '../lib/elapsed.ts';
import { newOperationId } from '../lib/ids.ts';
import { formatIp } from '../lib/ip/address.ts';
import type { IpAddress } from '../lib/ip/address.ts';
import { logFields } from '../lib/log-fields.ts';
import type { EntryFaults } from './entry-faults.ts';
import { createHandshakeLog } from './handshake-log.ts';
import { LineLimit } from './line-limit.ts';
import type { ListenerFaults } from './listener-faults.ts';
import type { LiveTraffic } from './live-traffic.ts';
import type { Metrics } from './metrics.ts';
import { createRefusalLog } from './refusal-log.ts';

interface ObserverParts {
  readonly metrics: Metrics;
  readonly log: GatewayLog;
  readonly entryFaults: EntryFaults;
  readonly listenerFaults: ListenerFaults;
  readonly live: LiveTraffic;
  /** Keeps warnings for the API. */
  readonly warnings: Pick<TrafficObserver, 'warned'>;
  /** Keeps sessions of visitors for the API. */
  readonly visitors: Pick<TrafficObserver, 'visitorSeen' | 'visitorLeft'>;
  /** Tells the other gateways. */
  readonly rates: Pick<TrafficObserver, 'ratesCounted'>;
  /** Keeps what is inspected, for the API. */
  readonly inspections: Pick<TrafficObserver, 'inspected'>;
  /** Keeps decisions, where they are kept. */
  readonly decisions: Pick<TrafficObserver, 'httpAnswered' | 'tcpOpened' | 'tcpClosed'> | undefined;
  /** The share of requests and connections that is logged, 0 to 1. */
  readonly accessLogShare: number;
}

/** Shortest interval between log lines for one pair of restriction and source. */
const warningEveryMs = 60_000;
const rememberedPairs = 10_000;

/** The error for a name that no edge serves, in the gateway. */
const hostNotFoundCode = 3200;

/** Turns events of the gateway into metrics, the access log, warnings and live traffic. */
export function createTrafficObserver(parts: ObserverParts): TrafficObserver {
  const {
    metrics,
    log,
    warnings,
    visitors,
    entryFaults,
    listenerFaults,
    live,
    decisions,
    rates,
    inspections,
    accessLogShare,
  } = parts;
  const logWarning = createWarningLog(log);
  const logRefusal = createRefusalLog(log);
  const logHandshake = createHandshakeLog(log);
  const logPassword = createPasswordLog(log);
  const isLogged = () => accessLogShare === 1 || (accessLogShare > 0 && Math.random() < accessLogShare);
  return {
    warned(restrictionIds, source) {
      metrics.warned(restrictionIds);
      warnings.warned(restrictionIds, source);
      logWarning(restrictionIds, formatIp(source));
    },
    tcpOpened(event, decision) {
      const { edgeId, verdict } = event;
      metrics.tcpOpened(edgeId, verdict);
      if (decision.wouldRefuse !== undefined) metrics.notEnforced(decision.wouldRefuse);
      live.tcpOpened(event, decision);
      decisions?.tcpOpened(event, decision);
      // An allowed connection is logged when it ends.
      if (verdict !== 'allowed' && isLogged()) log.info(logFields(event), 'tcp connection');
    },
    tcpClosed(event, decision) {
      metrics.tcpClosed(event);
      live.tcpClosed(event, decision);
      decisions?.tcpClosed(event, decision);
      if (isLogged()) log.info(logFields({ ...event, verdict: 'allowed' }), 'tcp connection');
    },
    httpsOpened() {
      metrics.httpsOpened();
    },
    httpsClosed() {
      metrics.httpsClosed();
    },
    httpAnswered(answered, decision) {
      metrics.httpAnswered(answered);
      const { reason, wouldRefuse } = decision;
      if (wouldRefuse !== undefined) metrics.notEnforced(wouldRefuse);
      const isInLog = isLogged();
      const event = isInLog ? { ...answered, operationId: answered.operationId ?? newOperationId() } : answered;
      live.httpAnswered(event, decision);
      decisions?.httpAnswered(event, decision);
      if (isInLog) log.info(logFields(withNotes(event, { reason, wouldRefuse })), 'http request');
      const { edgeId, errorCode, host, source } = event;
      if (edgeId === undefined && errorCode === hostNotFoundCode) {
        logHandshake({ reason: 'unknown_name', name: host, source });
      }
    },
    handshakeFailed(event) {
      metrics.handshakeFailed(event.reason);
      logHandshake(event);
    },
    boundsReported(reports) {
      metrics.boundsReported(reports);
    },
    listenerFault(event) {
      const { edgeId, port, cause } = event;
      listenerFaults.report(event);
      metrics.setFaultyListeners(listenerFaults.count);
      if (cause === undefined) log.info(logFields({ edgeId, port }), 'the port of a TCP edge is open now');
    },
    backendRefused(event) {
      metrics.inwardRefused(event.leadsTo);
      logRefusal(event);
    },
    passwordRefused(wrong, answer) {
      metrics.passwordRefused(answer);
      if (answer === 'unchecked') logPassword(wrong);
    },
    visitorSeen(session) {
      visitors.visitorSeen(session);
    },
    visitorLeft(session) {
      visitors.visitorLeft(session);
    },
    ratesCounted(reports) {
      metrics.ratesCounted(reports);
      rates.ratesCounted(reports);
    },
    inspected(request) {
      inspections.inspected(request);
    },
    ownArrivalReset() {
      metrics.inwardRefused('arrival');
    },
    entryFault(event) {
      entryFaults.report(event);
    },
  };
}

/** Most requests have none of them. */
function withNotes<Event extends object>(event: Event, notes: Notes): Event | (Event & Notes) {
  return notes.reason === undefined && notes.wouldRefuse === undefined ? event : { ...event, ...notes };
}

interface Notes {
  readonly reason: string | undefined;
  readonly wouldRefuse: string | undefined;
}

/** Passes warnings on once there is a database to keep them; earlier ones are counted and logged only. */
export class LateWarnings {
  #target: Pick<TrafficObserver, 'warned'> | undefined;

  to(target: Pick<TrafficObserver, 'warned'>): void {
    this.#target = target;
  }

  warned(restrictionIds: readonly string[], source: IpAddress): void {
    this.#target?.warned(restrictionIds, source);
  }
}

type VisitorObserver = Pick<TrafficObserver, 'visitorSeen' | 'visitorLeft'>;
type Seen = Parameters<VisitorObserver['visitorSeen']>[0];
type Left = Parameters<VisitorObserver['visitorLeft']>[0];
type VisitorEvent = (target: VisitorObserver) => void;

/** Events that may come before there is a database. */
const keptVisits = 10_000;

/** Hands events of visitors on once there is somebody to take them. */
export class LateVisitors implements VisitorObserver {
  #target: VisitorObserver | undefined;
  #kept: VisitorEvent[] = [];

  to(target: VisitorObserver): void {
    this.#target = target;
    for (const event of this.#kept) event(target);
    this.#kept = [];
  }

  visitorSeen(session: Seen): void {
    this.#tell((target) => {
      target.visitorSeen(session);
    });
  }

  visitorLeft(session: Left): void {
    this.#tell((target) => {
      target.visitorLeft(session);
    });
  }

  #tell(event: VisitorEvent): void {
    if (this.#target !== undefined) event(this.#target);
    else if (this.#kept.length < keptVisits) this.#kept.push(event);
  }
}

/** Logs sources that are refused for their wrong passwords, at most once a minute for each endpoint and source. */
function createPasswordLog(log: GatewayLog): (wrong: WrongPassword) => void {
  const lines = new LineLimit();
  return (wrong) => {
    const verdict = lines.ask(`${wrong.edgeId} ${wrong.source}`);
    if (verdict === 'none') return;
    log.warn(logFields(wrong), 'too many wrong passwords: this source is refused at this endpoint for up to a minute');
    if (verdict === 'last')
      log.warn({}, 'further such sources are not logged for a while: gatehouse_wrong_passwords_total counts them');
  };
}

function createWarningLog(log: GatewayLog): (restrictionIds: readonly string[], source: string) => void {
  const loggedAt = new BoundedCache<string, number>(rememberedPairs);
  return (restrictionIds, source) => {
    const nowMs = Date.now();
    for (const restriction of restrictionIds) {
      const pair = `${restriction} ${source}`;
      if (!hasElapsed(loggedAt.get(pair) ?? 0, warningEveryMs, nowMs)) continue;
      loggedAt.set(pair, nowMs);
      log.warn(
        { restriction, source },
        'let through with a warning: this restriction would refuse the source if it were enforced',
      );
    }
  };
}
