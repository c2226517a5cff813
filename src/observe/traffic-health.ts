import { refusalCauses } from '../errors/refusals.ts';
import type { RefusalCause } from '../errors/refusals.ts';
import { durationSteps, quantileOf, stepOf } from './durations.ts';

/** How a request or connection ended for the edge, the route and the backend that it was for. */
export interface Ending {
  /**
   * `turned_away`: by a rule, or for a fault of the request; nobody was asked. `left`: the client did not wait. `own`: the
   * sign-in has answered in place of the backend.
   */
  readonly kind: 'answered' | 'failed' | 'left' | 'turned_away' | 'own';
  /** Until the head of the answer, or until the client left; undefined where that says nothing. */
  readonly durationMs?: number | undefined;
  /** Error of one that failed. */
  readonly error?: LastError;
  /** Refusal of one that was turned away. */
  readonly refusal?: LastRefusal;
  readonly login?: 'begun' | 'back' | undefined;
}

export interface LastRefusal {
  readonly atMs: number;
  readonly cause: RefusalCause;
  readonly message: string;
  readonly source: string;
}

export interface LastError {
  readonly atMs: number;
  readonly message: string;
  readonly status?: number | undefined;
  readonly code?: number | undefined;
  readonly method?: string | undefined;
  readonly path?: string | undefined;
}

/** Counts of one edge, route or backend. Those of several processes can be added up. */
interface HealthReport {
  readonly accountId: string;
  readonly id: string;
  readonly hour: EndingCounts;
  readonly recent: EndingCounts;
  readonly lastAtMs: number;
  readonly lastError?: LastError | undefined;
  readonly lastRefusal?: LastRefusal | undefined;
}

/** Reports of one process. */
export interface HealthReports {
  readonly reports: readonly HealthReport[];
  /** There were more in the last hour than it tells apart. */
  readonly hasLeftOut: boolean;
}

interface EndingCounts {
  readonly requests: number;
  readonly errors: number;
  readonly left: number;
  readonly turnedAway: number;
  /** Pairs of step and count; most steps have none. */
  readonly durations: readonly (readonly [step: number, count: number])[];
  /** Pairs of cause or login and count. Undefined in what an older release reports. */
  readonly tallies?: readonly (readonly [tally: Tally, count: number])[];
}

/** Things that are counted beside requests, by ten minutes. */
const tallies = [...refusalCauses, 'login_begun', 'login_back'] as const;
type Tally = (typeof tallies)[number];
const tallyPlaces = new Map<Tally, number>(tallies.map((tally, at) => [tally, at]));

export type HealthState =
  | 'answers'
  | 'answers_in_part'
  | 'slow'
  | 'does_not_answer'
  | 'no_login_returns'
  | 'no_requests';

const minuteMs = 60_000;
const keptMinutes = 60;
/** The state is that of the last minutes, where there were requests. */
const recentMinutes = 10;
const hourMs = keptMinutes * minuteMs;
/** Durations are kept by ten minutes: six that are over, and the one that has begun. */
const keptTens = 7;
/** Edges, routes and backends that one process tells apart, at 5 kB each. */
const subjectLimit = 1_500;
/** Share of errors from which an edge answers only in part. */
const partShare = 0.01;
const slowMs = 3_000;

const columns = { requests: 0, errors: 1, left: 2, turnedAway: 3 } as const;
const columnCount = 4;

class Subject {
  readonly accountId: string;
  /** Numbers of the minutes that the rows of `#counts` are of. */
  readonly #minutes = new Float64Array(keptMinutes);
  readonly #counts = new Uint32Array(keptMinutes * columnCount);
  readonly #tens = new Float64Array(keptTens);
  readonly #durations = new Uint32Array(keptTens * durationSteps);
  readonly #tallies = new Uint32Array(keptTens * tallies.length);
  lastAtMs = 0;
  lastError: LastError | undefined;
  lastRefusal: LastRefusal | undefined;

  constructor(accountId: string) {
    this.accountId = accountId;
  }

  add(nowMs: number, minute: number, column: number): void {
    const row = minute % keptMinutes;
    if (this.#minutes[row] !== minute) {
      this.#minutes[row] = minute;
      this.#counts.fill(0, row * columnCount, (row + 1) * columnCount);
    }
    const at = row * columnCount + column;
    this.#counts[at] = (this.#counts[at] ?? 0) + 1;
    this.lastAtMs = nowMs;
  }

  addDuration(minute: number, step: number): void {
    const at = this.#rowOf(minute) * durationSteps + step;
    this.#durations[at] = (this.#durations[at] ?? 0) + 1;
  }

  addTally(nowMs: number, minute: number, tally: Tally): void {
    const at = this.#rowOf(minute) * tallies.length + (tallyPlaces.get(tally) ?? 0);
    this.#tallies[at] = (this.#tallies[at] ?? 0) + 1;
    this.lastAtMs = nowMs;
  }

  /** The row of these ten minutes, which begins empty. */
  #rowOf(minute: number): number {
    const ten = Math.floor(minute / 10);
    const row = ten % keptTens;
    if (this.#tens[row] !== ten) {
      this.#tens[row] = ten;
      this.#durations.fill(0, row * durationSteps, (row + 1) * durationSteps);
      this.#tallies.fill(0, row * tallies.length, (row + 1) * tallies.length);
    }
    return row;
  }

  /** Sums of the last minutes; durations and tallies are those of the tens that these minutes are in. */
  sum(nowMs: number, minutes: number): EndingCounts {
    const last = Math.floor(nowMs / minuteMs);
    const sums = [0, 0, 0, 0] as [number, number, number, number];
    for (const [row, minute] of this.#minutes.entries()) {
      if (minute <= last - minutes || minute > last) continue;
      for (let column = 0; column < columnCount; column++) {
        sums[column] = (sums[column] ?? 0) + (this.#counts[row * columnCount + column] ?? 0);
      }
    }
    const steps = new Map<number, number>();
    const counted = new Map<Tally, number>();
    const [firstTen, lastTen] = [Math.floor((last - minutes + 1) / 10), Math.floor(last / 10)];
    for (const [row, ten] of this.#tens.entries()) {
      if (ten < firstTen || ten > lastTen) continue;
      for (let step = 0; step < durationSteps; step++) {
        const count = this.#durations[row * durationSteps + step] ?? 0;
        if (count > 0) steps.set(step, (steps.get(step) ?? 0) + count);
      }
      for (const [place, tally] of tallies.entries()) {
        const count = this.#tallies[row * tallies.length + place] ?? 0;
        if (count > 0) counted.set(tally, (counted.get(tally) ?? 0) + count);
      }
    }
    const [requests, errors, left, turnedAway] = sums;
    return { requests, errors, left, turnedAway, durations: [...steps], tallies: [...counted] };
  }
}

/**
 * How each edge, route and backend did in the last hour, by what happened to the requests and connections that were for
 * it. Memory is bounded, and used only where there is traffic.
 */
export class TrafficHealth {
  readonly #subjects = new Map<string, Subject>();
  #sweptMinute = 0;
  #leftOutAtMs = 0;

  /** Counts one request or connection for each of those that it was for. */
  add(nowMs: number, accountId: string, ending: Ending, ids: readonly (string | undefined)[]): void {
    const minute = Math.floor(nowMs / minuteMs);
    const step = ending.durationMs === undefined ? undefined : stepOf(ending.durationMs);
    for (const id of ids) {
      if (id === undefined) continue;
      const subject = this.#subjects.get(id) ?? this.#begin(nowMs, accountId, id);
      if (subject === undefined) continue;
      if (ending.kind !== 'own')
        subject.add(nowMs, minute, ending.kind === 'turned_away' ? columns.turnedAway : columns.requests);
      if (ending.login !== undefined) subject.addTally(nowMs, minute, `login_${ending.login}`);
      if (ending.refusal !== undefined) {
        subject.addTally(nowMs, minute, ending.refusal.cause);
        subject.lastRefusal = ending.refusal;
      }
      if (ending.kind === 'left') subject.add(nowMs, minute, columns.left);
      if (ending.kind === 'failed') this.#fail(nowMs, subject, ending.error);
      if (step !== undefined) subject.addDuration(minute, step);
    }
  }

  /** A connection that was counted before has found no backend. */
  failed(id: string | undefined, error: LastError): void {
    const subject = id === undefined ? undefined : this.#subjects.get(id);
    if (subject !== undefined) this.#fail(error.atMs, subject, error);
  }

  /** The client of a connection that was counted before has given up its handshake. */
  left(nowMs: number, id: string | undefined): void {
    const subject = id === undefined ? undefined : this.#subjects.get(id);
    subject?.add(nowMs, Math.floor(nowMs / minuteMs), columns.left);
  }

  /** Reports of what had traffic in the last hour, most errors and requests first. */
  report(nowMs: number): readonly HealthReport[] {
    const reports: HealthReport[] = [];
    for (const [id, subject] of this.#subjects) {
      if (nowMs - subject.lastAtMs >= hourMs) continue;
      const [hour, recent] = [subject.sum(nowMs, keptMinutes), subject.sum(nowMs, recentMinutes)];
      const { lastAtMs, lastError, lastRefusal } = subject;
      reports.push({ accountId: subject.accountId, id, hour, recent, lastAtMs, lastError, lastRefusal });
    }
    return reports.toSorted((a, b) => b.hour.errors - a.hour.errors || b.hour.requests - a.hour.requests);
  }

  /** Whether there were more in the last hour than can be told apart. */
  hasLeftOut(nowMs: number): boolean {
    return nowMs - this.#leftOutAtMs < hourMs;
  }

  #fail(nowMs: number, subject: Subject, error: LastError | undefined): void {
    subject.add(nowMs, Math.floor(nowMs / minuteMs), columns.errors);
    subject.lastError = error;
  }

  #begin(nowMs: number, accountId: string, id: string): Subject | undefined {
    if (this.#subjects.size >= subjectLimit) this.#sweep(nowMs);
    if (this.#subjects.size >= subjectLimit) {
      this.#leftOutAtMs = nowMs;
      return undefined;
    }
    const subject = new Subject(accountId);
    this.#subjects.set(id, subject);
    return subject;
  }

  /** Drops those without traffic in the last hour; once a minute, because a flood would ask for it at every request. */
  #sweep(nowMs: number): void {
    const minute = Math.floor(nowMs / minuteMs);
    if (this.#sweptMinute === minute) return;
    this.#sweptMinute = minute;
    for (const [id, { lastAtMs }] of this.#subjects) if (nowMs - lastAtMs >= hourMs) this.#subjects.delete(id);
  }
}

/** Adds up what several processes report of the same edge, route or backend. */
export function joinReports(reports: readonly HealthReport[]): readonly HealthReport[] {
  const byId = new Map<string, HealthReport>();
  for (const report of reports) {
    const known = byId.get(report.id);
    byId.set(report.id, known === undefined ? report : join(known, report));
  }
  return [...byId.values()];
}

function join(one: HealthReport, other: HealthReport): HealthReport {
  return {
    ...one,
    hour: joinCounts(one.hour, other.hour),
    recent: joinCounts(one.recent, other.recent),
    lastAtMs: Math.max(one.lastAtMs, other.lastAtMs),
    lastError: newest(one.lastError, other.lastError),
    lastRefusal: newest(one.lastRefusal, other.lastRefusal),
  };
}

function newest<Each extends { readonly atMs: number }>(one?: Each, other?: Each): Each | undefined {
  return (one?.atMs ?? 0) >= (other?.atMs ?? 0) ? one : other;
}

function joinCounts(one: EndingCounts, other: EndingCounts): EndingCounts {
  return {
    requests: one.requests + other.requests,
    errors: one.errors + other.errors,
    left: one.left + other.left,
    turnedAway: one.turnedAway + other.turnedAway,
    durations: [...one.durations, ...other.durations],
    tallies: [...(one.tallies ?? []), ...(other.tallies ?? [])],
  };
}

/** The time in which 95 of 100 were answered. */
export function p95Of({ durations }: EndingCounts): number | undefined {
  const steps = new Float64Array(durationSteps);
  for (const [step, count] of durations) steps[step] = (steps[step] ?? 0) + count;
  return quantileOf(steps, 0.95);
}

export function tallyOf({ tallies: counted = [] }: EndingCounts, wanted: Tally): number {
  return counted.reduce((sum, [tally, count]) => (tally === wanted ? sum + count : sum), 0);
}

/** Logins of the last minutes from which it is no chance that none comes back. */
const tellingLogins = 3;

/** Whether visitors leave for the provider and do not come back: its own page tells them why, and nobody else. */
function areLoginsLost({ hour, recent }: Pick<HealthReport, 'hour' | 'recent'>): boolean {
  const [begun, begunRecently] = [tallyOf(hour, 'login_begun'), tallyOf(recent, 'login_begun')];
  return tallyOf(hour, 'login_back') === 0 && (begun > begunRecently || begunRecently >= tellingLogins);
}

/** Goes by the last minutes where there were requests in them, else by the hour. */
export function stateOf({ hour, recent }: Pick<HealthReport, 'hour' | 'recent'>): HealthState {
  const counts = recent.requests > 0 ? recent : hour;
  const { requests, errors, left } = counts;
  const answered = Math.max(0, requests - errors - left);
  if (errors > 0 && answered === 0) return 'does_not_answer';
  if (errors >= partShare * (answered + errors) && errors > 0) return 'answers_in_part';
  if ((p95Of(counts) ?? 0) >= slowMs) return 'slow';
  if (answered > 0) return 'answers';
  return areLoginsLost({ hour, recent }) ? 'no_login_returns' : 'no_requests';
}
