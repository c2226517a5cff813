import { Budget, Frame } from '../../../lib/cel/run.ts';
import type { CelMap, Value } from '../../../lib/cel/values.ts';
import type { Answering, ConnectionFacts, ConnectionVisit, HeaderList, RequestVisit } from '../../step.ts';
import type { BuiltAction } from '../actions/action.ts';
import type { Phase } from '../phases.ts';
import type { Recorder } from './recorder.ts';

/** What all expressions of one visit may cost together: some 5 ms. */
const unitsOfVisit = 200_000;

/** Place of a visit in the rules of a phase. */
export interface PhasePosition {
  /** Index of the rule that is next, or under way. */
  rule: number;
  /** Index of the action that is next; -1: the rule has not been looked at. */
  action: number;
}

/** One visit on its way through a policy: the engine's visit, and what rules have left for those behind them. */
export class PolicyVisit {
  /** The policy that it is on the way through. */
  readonly policy: object;
  readonly engine: ConnectionVisit;
  readonly frame: Frame<PolicyVisit>;
  readonly startedMs = Date.now();
  readonly vars = new Map<string, Value>();
  /** Effects that happen once, however often the visit is begun anew. */
  readonly done: Set<string>;
  /** Checks that have let it pass, which open connections are held to. */
  readonly checks: BuiltAction[] = [];
  /** Set where the run is explained. */
  recorder: Recorder | undefined;
  position: PhasePosition = { rule: 0, action: -1 };
  phase: Phase | undefined;
  /** Set in the phase of answers. */
  answer: Answering | undefined;
  /** Host of the URL, where a rule has rewritten it. */
  authority: string | undefined;
  /** Another way in which servers read the path; undefined: as it is. */
  reading: string | undefined;
  /** Headers of the request as rules have changed them so far. */
  #headers: HeaderList | undefined;
  #facts: ConnectionFacts | undefined;
  readonly #kept = new Map<object, unknown>();
  readonly #results = new Map<string, CelMap | (() => CelMap)>();
  readonly #cached = new Map<string, { readonly of: unknown; readonly value: unknown }>();

  constructor(policy: object, engine: ConnectionVisit, done = new Set<string>()) {
    this.policy = policy;
    this.engine = engine;
    this.done = done;
    this.frame = new Frame<PolicyVisit>(this, new Budget(unitsOfVisit));
  }

  /** Begins a phase, or goes on with one that has waited. Variables live as long as a phase. */
  enter(phase: Phase): void {
    if (this.phase === phase) return;
    this.phase = phase;
    this.position = { rule: 0, action: -1 };
    this.vars.clear();
  }

  /** The request of an HTTP phase. */
  get request(): RequestVisit {
    // Only requests come to the phases whose rules ask for it.
    return this.engine as RequestVisit;
  }

  get facts(): ConnectionFacts {
    return (this.#facts ??= this.engine.facts());
  }

  get headers(): HeaderList {
    return this.#headers ?? this.engine.headers;
  }

  /** Changes the headers of the request, or in the phase of answers those of the answer. */
  changeHeaders(change: (headers: HeaderList) => HeaderList): void {
    const { answer } = this;
    if (answer !== undefined) {
      this.spend(answer.headers.length / 4);
      answer.headers = change(answer.headers);
      return;
    }
    this.spend(this.headers.length / 2);
    this.#headers = change(this.headers);
    this.request.outgoing = change(this.request.outgoing);
  }

  /** For checks of an open connection, which may be asked for days. */
  renewBudget(): void {
    this.frame.budget.left = unitsOfVisit;
  }

  spend(units: number): void {
    this.frame.budget.spend(units);
  }

  /** Result of an action, for expressions of later ones: made when one asks for it. */
  setResult(name: string, make: () => CelMap): void {
    this.#results.set(name, make);
  }

  result(name: string): CelMap | undefined {
    const found = this.#results.get(name);
    if (typeof found !== 'function') return found;
    const made = found();
    this.#results.set(name, made);
    return made;
  }

  /** Something that an action keeps while the visit waits. */
  keep<Kept>(action: object, make: () => Kept): Kept {
    // Nobody else has the action as its key.
    if (this.#kept.has(action)) return this.#kept.get(action) as Kept;
    const made = make();
    this.#kept.set(action, made);
    return made;
  }

  /** Something that is made of a fact of the visit, as long as that is the same. */
  cached<Made>(name: string, of: unknown, make: () => Made): Made {
    const known = this.#cached.get(name);
    // What stands under a name was made by the same caller.
    if (known !== undefined && known.of === of) return known.value as Made;
    const value = make();
    this.#cached.set(name, { of, value });
    return value;
  }
}
