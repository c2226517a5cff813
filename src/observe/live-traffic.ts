import { causeOf, refusalCauses } from '../errors/refusals.ts';
import type { RefusalCause } from '../errors/refusals.ts';
import type { HttpAnswered, HttpDecision, TcpClosed, TcpDecision, TcpOpened, Verdict } from '../gateway/engine.ts';
import { newOperationId } from '../lib/ids.ts';
import { joinReports, p95Of, stateOf, tallyOf, TrafficHealth } from './traffic-health.ts';
import type { Ending, HealthReports } from './traffic-health.ts';
import { TrafficHour } from './traffic-hour.ts';
import type { CountedEvent } from './traffic-hour.ts';
import { httpVerdict, passedAs, restrictionsOf } from './verdicts.ts';

/** A request or connection, for those who look on. It holds no header, no query and no body. */
export interface LiveEvent {
  readonly id: string;
  readonly kind: 'https' | 'tcp';
  /** A connection comes twice, when it is opened and when it is closed; everything else once, when it is over. */
  readonly phase: 'opened' | 'closed';
  readonly atMs: number;
  readonly accountId: string;
  readonly edgeId: string;
  readonly routeId?: string | undefined;
  /** The name that was asked for; undefined for a port. */
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly source: string;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
  readonly protocol?: string | undefined;
  readonly status?: number | undefined;
  readonly verdict: CountedEvent['verdict'];
  readonly code?: number | undefined;
  readonly reason?: string | undefined;
  /** The restriction that refused, or those that warned. */
  readonly restrictionIds: readonly string[];
  /** The module that refused, or answered in place of the backend. */
  readonly module?: string | undefined;
  /** The module or action that would have refused if it were enforced. */
  readonly wouldRefuse?: string | undefined;
  readonly durationMs?: number | undefined;
  readonly backendId?: string | undefined;
  readonly upstreamMs?: number | undefined;
  readonly bytesIn?: number | undefined;
  readonly bytesOut?: number | undefined;
}

interface LiveTrafficOptions {
  readonly isCarriedHere: boolean;
  /** Subscriptions that one account may have. */
  readonly limit: number;
  readonly observer: LiveTrafficObserver;
}

interface LiveTrafficObserver {
  trafficStreams(open: number): void;
  trafficStreamRefused(): void;
  trafficEventsDropped(count: number): void;
}

/** Events that wait for one subscriber: so many that passed, and so many that were refused or warned. */
const waitingLimit = 100;

/** Ends of connections for which the backend, not the client, is the reason, in words for its owner. */
const failedReasons: ReadonlyMap<string, string> = new Map([
  ['no backend', 'There is no backend at the moment.'],
  ['too many connections', 'The backend has as many connections as the gateway opens to it.'],
  ['connect failed', 'The backend refused the connection, or cannot be found.'],
  ['connect timeout', 'The backend did not accept the connection in time.'],
  ['backend leads inwards', 'The backend cannot be used. The log of the gateway says why.'],
  ['agent full', 'The agent has as many connections as it takes.'],
]);
/** Longest part of a path that is kept with an error. */
const pathLimit = 200;
/** Longest reason of a refusal that is kept. */
const reasonLimit = 300;
/** Longest method that is kept: in HTTP/2 it may be any word. */
const methodLimit = 40;

/**
 * Traffic as it happens, for each account apart. Counting takes a few additions for each event; an event is made for
 * subscribers only if its account has one, and waits in a bounded place until it is taken.
 */
export class LiveTraffic {
  readonly isCarriedHere: boolean;
  readonly limit: number;
  readonly #observer: LiveTrafficObserver;
  readonly #subscribers = new Map<string, Set<Subscriber>>();
  /** One for each account that has traffic; accounts are made on the host only, and are few. */
  readonly #hours = new Map<string, TrafficHour>();
  readonly #health = new TrafficHealth();

  constructor({ isCarriedHere, limit, observer }: LiveTrafficOptions) {
    this.isCarriedHere = isCarriedHere;
    this.limit = limit;
    this.#observer = observer;
  }

  httpAnswered(event: HttpAnswered, decision: HttpDecision): void {
    const { accountId, wouldRefuse } = decision;
    const { edgeId, errorCode, status, durationMs } = event;
    if (accountId === undefined || edgeId === undefined) return;
    const verdict = httpVerdict(errorCode, decision);
    const nowMs = Date.now();
    this.#hourOf(accountId).add(nowMs, edgeId, { kind: 'request', verdict, isError: status >= 500, durationMs });
    this.#health.add(nowMs, accountId, endingOf(event, decision), [edgeId, event.routeId, decision.backendId]);
    const subscribers = this.#subscribers.get(accountId);
    if (subscribers === undefined) return;
    const { routeId, host, source, method, path, protocol, upstreamMs } = event;
    const { backendId, module, reason } = decision;
    const made: LiveEvent = {
      id: event.operationId ?? newOperationId(),
      kind: 'https',
      phase: 'closed',
      atMs: Date.now(),
      accountId,
      edgeId,
      routeId,
      host,
      source,
      method,
      path,
      protocol,
      status,
      verdict,
      code: errorCode,
      reason,
      restrictionIds: restrictionsOf(verdict, decision),
      module,
      wouldRefuse,
      durationMs,
      backendId,
      upstreamMs,
    };
    for (const each of subscribers) each.add(made);
  }

  tcpOpened({ edgeId, source, verdict: judged, reason }: TcpOpened, decision: TcpDecision): void {
    const { accountId } = decision;
    const verdict = judged !== 'allowed' ? 'refused' : passedAs(decision);
    const nowMs = Date.now();
    this.#hourOf(accountId).add(nowMs, edgeId, { kind: 'connection', verdict, isError: false, durationMs: 0 });
    const cause = causes[judged];
    const ending: Ending =
      cause === undefined ? answered : turnedAwayBy(cause, { atMs: nowMs, message: reason, source });
    this.#health.add(nowMs, accountId, ending, [edgeId, decision.backendId]);
    const subscribers = this.#subscribers.get(accountId);
    if (subscribers === undefined) return;
    const phase = verdict === 'refused' ? 'closed' : 'opened';
    const made = toTcpEvent({ edgeId, source }, decision, verdict, phase);
    for (const each of subscribers) each.add(verdict === 'refused' ? { ...made, reason } : made);
  }

  tcpClosed(event: TcpClosed, decision: TcpDecision | undefined): void {
    if (decision === undefined) return;
    const { accountId } = decision;
    const ids = [event.edgeId, decision.backendId];
    if (event.reason === 'handshake failed') for (const id of ids) this.#health.left(Date.now(), id);
    const failure = failedReasons.get(event.reason);
    if (failure !== undefined) {
      const atMs = Date.now();
      this.#hourOf(accountId).failed(atMs, event.edgeId);
      for (const id of ids) this.#health.failed(id, { atMs, message: failure });
    }
    const subscribers = this.#subscribers.get(accountId);
    if (subscribers === undefined) return;
    const { bytesIn, bytesOut, durationMs, reason } = event;
    const made = {
      ...toTcpEvent(event, decision, passedAs(decision), 'closed'),
      bytesIn,
      bytesOut,
      durationMs,
      reason,
    };
    for (const each of subscribers) each.add(made);
  }

  subscribe(accountId: string): Subscriber | undefined {
    const subscribers = this.#subscribers.get(accountId) ?? new Set();
    if (subscribers.size >= this.limit) {
      this.#observer.trafficStreamRefused();
      return undefined;
    }
    this.#subscribers.set(accountId, subscribers);
    const subscriber = new Subscriber(
      (count) => this.#observer.trafficEventsDropped(count),
      () => {
        subscribers.delete(subscriber);
        if (subscribers.size === 0) this.#subscribers.delete(accountId);
        this.#report();
      },
    );
    subscribers.add(subscriber);
    this.#report();
    return subscriber;
  }

  history(accountId: string, edgeId?: string) {
    const nowMs = Date.now();
    const hour = this.#hours.get(accountId) ?? new TrafficHour();
    return { minutes: hour.minutes(nowMs, edgeId), byEdge: hour.byEdge(nowMs) };
  }

  /** How edges, routes and backends do by the traffic through this process, of all accounts. */
  reportHealth(): HealthReports {
    const nowMs = Date.now();
    return { reports: this.#health.report(nowMs), hasLeftOut: this.#health.hasLeftOut(nowMs) };
  }

  /** The same for one account, together with what other processes report. */
  health(accountId: string, others: readonly HealthReports[]) {
    const all = [this.reportHealth(), ...others];
    const reports = all.flatMap((each) => each.reports).filter((report) => report.accountId === accountId);
    return {
      hasLeftOut: all.some(({ hasLeftOut }) => hasLeftOut),
      things: joinReports(reports).map((report) => ({
        ...report,
        state: stateOf(report),
        p95Ms: p95Of(report.hour),
        turnedAwayBy: refusalCauses
          .map((cause) => ({ cause, count: tallyOf(report.hour, cause) }))
          .filter(({ count }) => count > 0)
          .toSorted((a, b) => b.count - a.count),
        logins: { begun: tallyOf(report.hour, 'login_begun'), back: tallyOf(report.hour, 'login_back') },
      })),
    };
  }

  #hourOf(accountId: string): TrafficHour {
    const known = this.#hours.get(accountId);
    if (known !== undefined) return known;
    const hour = new TrafficHour();
    this.#hours.set(accountId, hour);
    return hour;
  }

  #report(): void {
    let open = 0;
    for (const { size } of this.#subscribers.values()) open += size;
    this.#observer.trafficStreams(open);
  }
}

const answered: Ending = { kind: 'answered' };

function turnedAwayBy(cause: RefusalCause, { atMs, message = '', source }: RefusalFacts): Ending {
  return { kind: 'turned_away', refusal: { atMs, cause, message: message.slice(0, reasonLimit), source } };
}

interface RefusalFacts {
  readonly atMs: number;
  readonly message: string | undefined;
  readonly source: string;
}

function endingOf(event: HttpAnswered, { reason, login }: HttpDecision): Ending {
  const { source, status, errorCode, upstreamMs, durationMs, method, path } = event;
  // The gateway's own 501 and 505 are for faults of the request.
  const isOwn = errorCode !== undefined && (status < 500 || status === 501 || status === 505);
  if (isOwn)
    return {
      ...turnedAwayBy(causeOf(errorCode), { atMs: Date.now(), message: reason, source }),
      login: login === 'back' ? login : undefined,
    };
  // Nobody has asked the upstream, whose answers are counted here.
  if (login !== undefined && status < 500) return { kind: 'own', login: login === 'none' ? undefined : login };
  if (status === 499 && upstreamMs === undefined) return { kind: 'left', durationMs };
  if (status < 500) return { kind: 'answered', durationMs: upstreamMs };
  const message = reason ?? `The backend answered ${status}.`;
  const asked = { method: method.slice(0, methodLimit), path: path.slice(0, pathLimit) };
  return {
    kind: 'failed',
    durationMs: upstreamMs,
    error: { atMs: Date.now(), message, status, code: errorCode, ...asked },
  };
}

/** Somebody who looks on, and the events that wait for it. Those that were refused or warned never give way to others. */
class Subscriber implements Disposable {
  readonly #onDropped: (count: number) => void;
  readonly #onDispose: () => void;
  #passed: LiveEvent[] = [];
  #notable: LiveEvent[] = [];
  #dropped = 0;

  constructor(onDropped: (count: number) => void, onDispose: () => void) {
    this.#onDropped = onDropped;
    this.#onDispose = onDispose;
  }

  add(event: LiveEvent): void {
    const waiting = event.verdict === 'allowed' ? this.#passed : this.#notable;
    if (waiting.length < waitingLimit) waiting.push(event);
    else this.#dropped += 1;
  }

  take(): { readonly events: readonly LiveEvent[]; readonly dropped: number } {
    const events = [...this.#passed, ...this.#notable].toSorted((a, b) => a.atMs - b.atMs);
    const dropped = this.#dropped;
    [this.#passed, this.#notable, this.#dropped] = [[], [], 0];
    if (dropped > 0) this.#onDropped(dropped);
    return { events, dropped };
  }

  [Symbol.dispose](): void {
    this.#onDispose();
  }
}

const causes: Readonly<Record<Verdict, RefusalCause | undefined>> = {
  allowed: undefined,
  refused_by_restriction: 'rule',
  refused_by_module: 'rule',
  refused_by_rate_limit: 'rate',
  refused_by_certificate: 'certificate',
  refused_unloadable: 'other',
};

function toTcpEvent(
  { edgeId, source }: Pick<TcpOpened, 'edgeId' | 'source'>,
  decision: TcpDecision,
  verdict: LiveEvent['verdict'],
  phase: LiveEvent['phase'],
): LiveEvent {
  const { connectionId, accountId, claim, module, wouldRefuse, backendId } = decision;
  return {
    id: connectionId,
    kind: 'tcp',
    phase,
    atMs: Date.now(),
    accountId,
    edgeId,
    source,
    verdict,
    backendId,
    ...(typeof claim === 'number' ? { port: claim } : { host: claim }),
    restrictionIds: restrictionsOf(verdict, decision),
    module,
    wouldRefuse,
  };
}
