import { Frame } from '../../../lib/cel/run.ts';
import type { CelMap, Value } from '../../../lib/cel/values.ts';
import type { Answering, ConnectionFacts, ConnectionVisit, HeaderList, RequestVisit } from '../../step.ts';
import type { BuiltAction } from '../actions/action.ts';
import type { Policy } from '../document/read-policy.ts';
import type { Phase } from '../phases.ts';
import { ChangedHeaders } from './changed-headers.ts';
import type { HeaderChange } from './changed-headers.ts';
import type { Recorder } from './recorder.ts';

/** Place of a visit in the rules of a phase. */
export interface PhasePosition {
  /** Index of the rule that is next, or under way. */
  rule: number;
  /** Index of the action that is next; -1: the rule has not been looked at. */
  action: number;
}

interface Cached {
  readonly of: unknown;
  readonly value: unknown;
}

interface Candidates {
  readonly host: string;
  readonly path: string;
  readonly rules: readonly number[] | undefined;
}

/** One visit on its way through a policy: the engine's visit, and what rules have left for those behind them. */
export class PolicyVisit {
  /** The policy that it is on the way through. */
  readonly policy: Pick<Policy, 'key'>;
  readonly engine: ConnectionVisit;
  readonly frame: Frame<PolicyVisit>;
  readonly startedMs = Date.now();
  /** Checks that have let it pass, which open connections are held to. */
  readonly checks: BuiltAction[] = [];
  /** Set where the run is explained. */
  recorder: Recorder | undefined;
  position: PhasePosition = { rule: 0, action: -1 };
  phase: Phase | undefined;
  /** Host of the URL, where a rule has rewritten it. */
  authority: string | undefined;
  /** True: a connection that is open is put to the rules again, without effects. */
  isOpen = false;
  /** Another way in which servers read the path; undefined: as it is. */
  reading: string | undefined;
  /** Rules that may match this host and path; undefined: any. */
  candidates: Candidates | undefined;
  #answer: Answering | undefined;
  /** Headers of the request as rules have changed them so far, those that go to the upstream, and those of the answer. */
  #headers: ChangedHeaders | undefined;
  #outgoing: ChangedHeaders | undefined;
  #answered: ChangedHeaders | undefined;
  #facts: ConnectionFacts | undefined;
  // Most visits need few of these, and making them would cost more than most rules.
  #vars: Map<string, Value> | undefined;
  #done: Set<string> | undefined;
  #kept: Map<object, unknown> | undefined;
  #results: Map<string, CelMap | (() => CelMap)> | undefined;
  #cached: Map<string, Cached> | undefined;

  constructor(policy: Pick<Policy, 'key'>, engine: ConnectionVisit, done?: Set<string>) {
    this.policy = policy;
    this.engine = engine;
    this.#done = done;
    this.frame = new Frame<PolicyVisit>(this, engine.budget);
  }

  /** Begins a phase, or goes on with one that has waited. Variables live as long as a phase. */
  enter(phase: Phase): void {
    if (this.phase === phase) return;
    this.phase = phase;
    this.position = { rule: 0, action: -1 };
    this.#vars = undefined;
  }

  get vars(): Map<string, Value> {
    return (this.#vars ??= new Map());
  }

  /** Effects that happen once, however often the visit is begun anew. */
  get done(): Set<string> {
    return (this.#done ??= new Set());
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
    return this.#headers?.all ?? this.engine.headers;
  }

  /** A list that has all headers of this name, as rules have changed them so far. */
  headersWith(lowerName: string): HeaderList {
    return this.#headers?.having(lowerName) ?? this.engine.headers;
  }

  /** Set in the phase of answers. */
  get answer(): Answering | undefined {
    this.#finishAnswer();
    return this.#answer;
  }

  set answer(answer: Answering | undefined) {
    this.#answer = answer;
  }

  /** Changes the headers of the request, or in the phase of answers those of the answer. */
  changeHeaders(change: HeaderChange): void {
    const { budget } = this.frame;
    if (this.#answer !== undefined) {
      this.#answered ??= new ChangedHeaders(this.#answer.headers);
      this.#answered.add(change, budget);
      return;
    }
    this.#headers ??= new ChangedHeaders(this.engine.headers);
    this.#headers.add(change, budget);
    this.#outgoing ??= new ChangedHeaders(this.request.outgoing);
    this.#outgoing.add(change, budget);
  }

  /** Hands over what rules have changed. */
  finishChanges(): void {
    this.#finishAnswer();
    if (this.#outgoing === undefined) return;
    this.request.outgoing = this.#outgoing.all;
    this.#outgoing = undefined;
  }

  #finishAnswer(): void {
    if (this.#answered === undefined || this.#answer === undefined) return;
    this.#answer.headers = this.#answered.all;
    this.#answered = undefined;
  }

  spend(units: number): void {
    this.frame.budget.spend(units);
  }

  /** Result of an action, for expressions of later ones: made when one asks for it. */
  setResult(name: string, make: () => CelMap): void {
    (this.#results ??= new Map()).set(name, make);
  }

  result(name: string): CelMap | undefined {
    const found = this.#results?.get(name);
    if (typeof found !== 'function') return found;
    const made = found();
    this.#results?.set(name, made);
    return made;
  }

  /** Something that an action keeps while the visit waits. */
  keep<Kept>(action: object, make: () => Kept): Kept {
    const all = (this.#kept ??= new Map());
    // Nobody else has the action as its key.
    if (all.has(action)) return all.get(action) as Kept;
    const made = make();
    all.set(action, made);
    return made;
  }

  /** Something that is made of a fact of the visit, as long as that is the same. */
  cached<Made>(name: string, of: unknown, make: () => Made): Made {
    const all = (this.#cached ??= new Map());
    const known = all.get(name);
    // What stands under a name was made by the same caller.
    if (known !== undefined && known.of === of) return known.value as Made;
    const value = make();
    all.set(name, { of, value });
    return value;
  }
}
