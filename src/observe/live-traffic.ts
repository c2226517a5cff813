import { refusals } from '../errors/refusals.ts';
import type { HttpAnswered, HttpDecision, TcpClosed, TcpDecision, TcpOpened } from '../gateway/engine.ts';
import { TrafficHour } from './traffic-hour.ts';
import type { CountedEvent } from './traffic-hour.ts';

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

const refusalCodes: ReadonlySet<number> = new Set(refusals.map(({ code }) => code));
const noIds: readonly string[] = [];
/** Ends of connections for which the backend, not the client, is the reason. */
const failedReasons: ReadonlySet<string> = new Set([
  'no backend',
  'too many connections',
  'connect failed',
  'connect timeout',
  'backend leads inwards',
  'agent full',
]);

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

  constructor({ isCarriedHere, limit, observer }: LiveTrafficOptions) {
    this.isCarriedHere = isCarriedHere;
    this.limit = limit;
    this.#observer = observer;
  }

  httpAnswered(event: HttpAnswered, decision: HttpDecision): void {
    const { accountId, warnedBy = noIds, refusedBy } = decision;
    const { edgeId, errorCode, status, durationMs } = event;
    if (accountId === undefined || edgeId === undefined) return;
    const isRefused = errorCode !== undefined && refusalCodes.has(errorCode);
    const verdict = isRefused ? 'refused' : warnedBy.length > 0 ? 'warned' : 'allowed';
    this.#count(accountId, edgeId, { kind: 'request', verdict, isError: status >= 500, durationMs });
    const subscribers = this.#subscribers.get(accountId);
    if (subscribers === undefined) return;
    const { routeId, host, source, method, path, protocol, upstreamMs } = event;
    const { backendId, reason } = decision;
    const made: LiveEvent = {
      id: event.operationId,
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
      restrictionIds: restrictionsOf(verdict, refusedBy, warnedBy),
      durationMs,
      backendId,
      upstreamMs,
    };
    for (const each of subscribers) each.add(made);
  }

  tcpOpened({ edgeId, source, verdict: judged }: TcpOpened, decision: TcpDecision): void {
    const { accountId, warnedBy = noIds } = decision;
    const verdict = judged !== 'allowed' ? 'refused' : warnedBy.length > 0 ? 'warned' : 'allowed';
    this.#count(accountId, edgeId, { kind: 'connection', verdict, isError: false, durationMs: 0 });
    const subscribers = this.#subscribers.get(accountId);
    if (subscribers === undefined) return;
    const phase = verdict === 'refused' ? 'closed' : 'opened';
    const made = toTcpEvent({ edgeId, source }, decision, verdict, phase);
    for (const each of subscribers) each.add(verdict === 'refused' ? { ...made, reason: words[judged] } : made);
  }

  tcpClosed(event: TcpClosed, decision: TcpDecision | undefined): void {
    if (decision === undefined) return;
    const { accountId, warnedBy = noIds } = decision;
    if (failedReasons.has(event.reason)) this.#hourOf(accountId).failed(Date.now(), event.edgeId);
    const subscribers = this.#subscribers.get(accountId);
    if (subscribers === undefined) return;
    const { bytesIn, bytesOut, durationMs, reason } = event;
    const verdict = warnedBy.length > 0 ? 'warned' : 'allowed';
    const made = { ...toTcpEvent(event, decision, verdict, 'closed'), bytesIn, bytesOut, durationMs, reason };
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

  history(accountId: string) {
    const nowMs = Date.now();
    const hour = this.#hours.get(accountId) ?? new TrafficHour();
    return { minutes: hour.minutes(nowMs), byEdge: hour.byEdge(nowMs) };
  }

  #count(accountId: string, edgeId: string, event: CountedEvent): void {
    this.#hourOf(accountId).add(Date.now(), edgeId, event);
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

const words = {
  allowed: undefined,
  refused_by_restriction: 'an IP restriction refuses the source',
  refused_by_module: 'the IP rules of the edge refuse the source',
  refused_unloadable: 'the edge, or a rule that it depends on, cannot be loaded',
} as const;

function toTcpEvent(
  { edgeId, source }: Pick<TcpOpened, 'edgeId' | 'source'>,
  { connectionId, accountId, claim, warnedBy = noIds, refusedBy, backendId }: TcpDecision,
  verdict: LiveEvent['verdict'],
  phase: LiveEvent['phase'],
): LiveEvent {
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
    restrictionIds: restrictionsOf(verdict, refusedBy, warnedBy),
  };
}

function restrictionsOf(
  verdict: LiveEvent['verdict'],
  refusedBy: string | undefined,
  warnedBy: readonly string[],
): readonly string[] {
  if (verdict === 'warned') return warnedBy;
  return refusedBy === undefined ? noIds : [refusedBy];
}
