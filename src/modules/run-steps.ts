import type { ConnectionPhase, ConnectionStep, Outcome, RequestPhase, RequestStep, Step, TlsTerms } from './step.ts';

/** A step as it is run: of a module, or the gateway's own. */
export interface Runnable<Visit> {
  run(this: void, visit: Visit): Outcome | undefined;
  holds(this: void, visit: Visit): number;
  readonly once?: string;
}

/** The place of a visit in its list. */
export interface Position {
  /** Index of the step that is next. */
  at: number;
  /** Effects that have happened, by their `once`, where it was begun anew. */
  readonly done: ReadonlySet<string> | undefined;
}

/** Runs the steps that are left. Undefined: all let it pass; else the step that has spoken is the next one. */
export function runSteps<Visit>(steps: readonly Runnable<Visit>[], visit: Visit & Position): Outcome | undefined {
  const { done } = visit;
  for (; visit.at < steps.length; visit.at++) {
    const { run, once } = steps[visit.at]!;
    if (done !== undefined && once !== undefined && done.has(once)) continue;
    const outcome = run(visit);
    if (outcome !== undefined) return outcome;
  }
  return undefined;
}

/** Effects that have happened to a visit, for one that is begun anew in its place. */
export function doneBy<Visit extends Position>(
  steps: readonly Runnable<Visit>[],
  { at, done }: Visit,
): ReadonlySet<string> {
  return new Set([...(done ?? []), ...steps.slice(0, at).flatMap(({ once }) => once ?? [])]);
}

/** Until when a connection may stay open that these steps have let in, the first `end` of them; 0: it ends now. */
export function holdsUntil<Visit>(
  steps: readonly Runnable<Visit>[],
  visit: Visit,
  end = steps.length,
  nowMs = Date.now(),
): number {
  let until = Infinity;
  for (let at = 0; at < end; at++) {
    until = Math.min(until, steps[at]!.holds(visit));
    if (until <= nowMs) return 0;
  }
  return until;
}

/** What steps say of handshakes, which come before any of them is run. */
export interface HandshakeRules {
  readonly clientCa: string | undefined;
  readonly needsTls13: boolean;
  /** Undefined: the rules do not say how TLS ends. */
  readonly tlsTerms: TlsTerms | undefined;
}

export function handshakeRules(steps: readonly Step[]): HandshakeRules {
  return {
    clientCa: steps.find(({ clientCa }) => clientCa !== undefined)?.clientCa,
    needsTls13: steps.some(({ needsTls13 }) => needsTls13 === true),
    tlsTerms: steps.find(({ terminatesTls }) => terminatesTls !== undefined)?.terminatesTls,
  };
}

/** Steps of a phase that connections have too. */
export function ofConnection(steps: readonly Step[], phase: ConnectionPhase): readonly ConnectionStep[] {
  return steps.filter((step): step is ConnectionStep => step.phase === phase);
}

/** Steps of a phase that requests alone have. */
export function ofRequest(steps: readonly Step[], phase: RequestPhase): readonly RequestStep[] {
  return steps.filter((step): step is RequestStep => step.phase === phase);
}
