import type { Value } from './values.ts';

/** An expression that cannot be evaluated: something is missing, of another type, or too much. */
export class EvaluationFault extends Error {
  override readonly name = 'EvaluationFault';
  /** What only the owner of the expression may read. */
  readonly detail: string | undefined;

  constructor(message: string, detail?: string) {
    // A policy may meet very many of them with one request, and nobody reads where they come from.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(message);
    Error.stackTraceLimit = stackTraceLimit;
    this.detail = detail;
  }

  /** What logs tell. */
  get logged(): string {
    return this.detail === undefined ? this.message : `${this.message} (${this.detail})`;
  }
}

/** More work than a request may cause. No operator of the language takes it for false or leaves it out. */
export class BudgetSpent extends EvaluationFault {}

/** What a fault costs, in units: a throw takes some microseconds. */
const faultUnits = 100;

/** What expressions of one visit may still do. A unit takes some 20 to 50 ns. */
export class Budget {
  left: number;
  readonly #units: number;

  constructor(units: number) {
    this.#units = units;
    this.left = units;
  }

  get spent(): number {
    return this.#units - this.left;
  }

  renew(): void {
    this.left = this.#units;
  }

  /** Bound, because matchers are given it alone. */
  readonly spend: (units: number) => void = (units) => {
    this.left -= units;
    if (this.left < 0)
      throw new BudgetSpent('it takes more work than one request may cause; use fewer or smaller lists and texts');
  };
}

/** What expressions are evaluated in: whom they are about, and what they may still do. */
export class Frame<Subject> {
  readonly subject: Subject;
  readonly budget: Budget;
  /** Names that macros give, by their places. */
  readonly locals: Value[] = [];

  constructor(subject: Subject, budget: Budget) {
    this.subject = subject;
    this.budget = budget;
  }

  fault(message: string, detail?: string): EvaluationFault {
    this.budget.spend(faultUnits);
    return new EvaluationFault(message, detail);
  }
}

export type Run<Subject> = (frame: Frame<Subject>) => Value;

/** Longest text or bytes that an expression may make. */
export const longestText = 1_048_576;
/** Most items of a list or map that an expression may make. */
export const mostItems = 50_000;
