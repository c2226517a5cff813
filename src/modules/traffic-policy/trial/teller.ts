import { UserError } from '../../../errors/user-error.ts';
import { encodeJson } from '../../../lib/cel/functions/encodings.ts';
import { Budget, EvaluationFault, Frame } from '../../../lib/cel/run.ts';
import type { Value } from '../../../lib/cel/values.ts';
import type { HeaderList, Outcome } from '../../step.ts';
import type { PlacedAction, Policy, Rule } from '../document/read-policy.ts';
import { phases } from '../phases.ts';
import type { Phase } from '../phases.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import type { Recorder } from '../run/recorder.ts';
import { toText } from '../variables/header-values.ts';

export interface ToldExpression {
  readonly expression: string;
  readonly result: 'true' | 'false' | 'fault' | 'depends';
  /** Why it has no value. */
  readonly reason: string | undefined;
}

export interface ToldAction {
  readonly path: string;
  readonly type: string;
  readonly result: 'passes' | 'answers' | 'refuses' | 'closes' | 'forwards' | 'depends';
  /** In words. */
  readonly effect: string;
}

export interface ToldRule {
  readonly phase: Phase;
  readonly path: string;
  readonly name: string | undefined;
  readonly result: 'matches' | 'does_not_match' | 'fault' | 'depends' | 'not_reached';
  /** Expressions that were evaluated. */
  readonly expressions: readonly ToldExpression[];
  /** Actions that were run. */
  readonly actions: readonly ToldAction[];
}

/** Expressions and actions that are told of one run. */
const mostTold = 2000;
const longestShown = 200;
/** Work of writing values down, beside that of the run. */
const unitsOfTelling = 200_000;

/** Writes down what happens in a run. */
export class Teller implements Recorder {
  isCut = false;
  readonly #visit: PolicyVisit;
  readonly #frame: Frame<unknown>;
  readonly #expressions = new Map<Rule, ToldExpression[]>();
  readonly #actions = new Map<PlacedAction, ToldAction>();
  #count = 0;
  #headers: HeaderList = [];
  #target: string;
  #vars: ReadonlyMap<string, Value> = new Map();

  constructor(visit: PolicyVisit) {
    this.#visit = visit;
    this.#frame = new Frame(undefined, new Budget(unitsOfTelling));
    this.#target = visit.request.upstreamTarget;
  }

  /** Must be called when a phase has begun. */
  begin(): void {
    this.#headers = this.#headersNow();
    this.#vars = new Map(this.#visit.vars);
  }

  condition(rule: Rule, value: boolean | EvaluationFault): void {
    if (value instanceof EvaluationFault) this.#noteExpression(rule, 'fault', value.message);
    else this.#noteExpression(rule, value ? 'true' : 'false', undefined);
  }

  action(action: PlacedAction, outcome: Outcome | undefined): void {
    if (outcome === undefined) this.#noteAction(action, 'passes', this.#changes());
    else if (outcome instanceof UserError)
      this.#noteAction(action, 'refuses', `refuses the visit with ${outcome.status}: ${outcome.message}`);
    else if (outcome.kind === 'close') this.#noteAction(action, 'closes', 'closes the connection');
    else if (outcome.kind === 'forward') {
      const more = outcome.onError === undefined ? '' : '; if that fails, the next action follows';
      this.#noteAction(action, 'forwards', `forwards to ${outcome.url}${more}`);
    } else if (outcome.kind === 'answer') {
      const { status, refusal } = outcome.answer;
      if (refusal === undefined) this.#noteAction(action, 'answers', `answers with ${status}`);
      else this.#noteAction(action, 'refuses', `refuses the visit with ${status}`);
    }
  }

  /** Notes that the rule or action that is next depends on something. */
  depends(rule: Rule, action: PlacedAction | undefined, what: string): void {
    if (action === undefined) this.#noteExpression(rule, 'depends', `it depends on ${what}`);
    else this.#noteAction(action, 'depends', `depends on ${what}`);
  }

  told({ rules }: Policy): readonly ToldRule[] {
    return phases.flatMap((phase) =>
      rules[phase].map((rule): ToldRule => {
        const expressions = this.#expressions.get(rule) ?? [];
        const actions = rule.actions.flatMap((action) => this.#actions.get(action) ?? []);
        const last = expressions.at(-1)?.result;
        const result =
          actions.length > 0
            ? 'matches'
            : last === undefined || last === 'true'
              ? 'not_reached'
              : last === 'false'
                ? 'does_not_match'
                : last;
        return { phase, path: rule.path, name: rule.name, result, expressions, actions };
      }),
    );
  }

  #noteExpression(rule: Rule, result: ToldExpression['result'], reason: string | undefined): void {
    if (this.#isFull()) return;
    const known = this.#expressions.get(rule) ?? [];
    this.#expressions.set(rule, known);
    known.push({ expression: rule.conditions[known.length]?.source ?? '', result, reason });
  }

  #noteAction(action: PlacedAction, result: ToldAction['result'], effect: string): void {
    if (!this.#isFull()) this.#actions.set(action, { path: action.path, type: action.type, result, effect });
  }

  #isFull(): boolean {
    this.isCut ||= this.#count >= mostTold;
    this.#count++;
    return this.isCut;
  }

  #headersNow(): HeaderList {
    return this.#visit.answer?.headers ?? this.#visit.headers;
  }

  /** What an action has changed since the last one. */
  #changes(): string {
    const headers = this.#headersNow();
    const words: string[] = [];
    // All headers and variables are compared for each action.
    if (!this.#pays(headers.length * 2 + this.#visit.vars.size * 4)) return '';
    if (headers !== this.#headers) {
      words.push(...linesBeyond(headers, this.#headers).map((line) => `adds the header ${line}`));
      words.push(...linesBeyond(this.#headers, headers).map((line) => `removes the header ${line}`));
      this.#headers = headers;
    }
    const { upstreamTarget } = this.#visit.request;
    if (upstreamTarget !== this.#target) words.push(`rewrites the URL to ${cut(upstreamTarget)}`);
    this.#target = upstreamTarget;
    const { vars } = this.#visit;
    for (const [name, value] of vars)
      if (this.#vars.get(name) !== value) words.push(`sets vars.${name} to ${this.#written(value)}`);
    this.#vars = new Map(vars);
    return words.join('; ') || 'lets the visit pass, and changes nothing';
  }

  /** False: all that may be spent on telling has been, and nothing more is told. */
  #pays(units: number): boolean {
    this.#frame.budget.left -= units;
    this.isCut ||= this.#frame.budget.left < 0;
    return this.#frame.budget.left >= 0;
  }

  #written(value: Value): string {
    try {
      return cut(encodeJson(value, this.#frame));
    } catch (error) {
      if (!(error instanceof EvaluationFault)) throw error;
      return 'a value that is not shown';
    }
  }
}

/** Lines of some headers that others have not. */
function linesBeyond(headers: HeaderList, others: HeaderList): readonly string[] {
  const left = new Map<string, number>();
  for (let at = 0; at < others.length; at += 2) {
    const line = lineOf(others, at);
    left.set(line, (left.get(line) ?? 0) + 1);
  }
  const beyond: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    const line = lineOf(headers, at);
    const count = left.get(line) ?? 0;
    if (count === 0) beyond.push(line);
    else left.set(line, count - 1);
  }
  return beyond;
}

function lineOf(headers: HeaderList, at: number): string {
  return cut(`${headers[at]}: ${toText(headers[at + 1] ?? '')}`);
}

function cut(text: string): string {
  return text.length > longestShown ? `${text.slice(0, longestShown)}…` : text;
}
