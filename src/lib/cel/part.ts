import type { Environment } from './environment.ts';
import type { Run } from './run.ts';
import { ExpressionFault } from './syntax-fault.ts';
import type { Node } from './tree.ts';
import { fits, isSurely } from './types.ts';
import type { Type } from './types.ts';
import type { Value } from './values.ts';

/** A compiled part of an expression. */
export interface Part<Subject> {
  readonly type: Type;
  readonly run: Run<Subject>;
  /** Estimate of what it costs with a usual request, in units. */
  readonly units: number;
  /** Estimate of the length of its text, or of the number of its items. */
  readonly size: number;
  /** False: only a fault of the budget can come of it. */
  readonly mayFail: boolean;
  /** The value, where it is written out. */
  readonly constant: Value | undefined;
}

/** A name that a macro gives. */
export interface Local {
  readonly place: number;
  readonly type: Type;
}

/** What a part of an expression is compiled in. */
export interface Scope<Subject> {
  readonly environment: Environment<Subject>;
  readonly locals: ReadonlyMap<string, Local>;
  compile(this: void, node: Node, scope: Scope<Subject>): Part<Subject>;
}

/** Sizes that a usual request does not exceed, of what is not known. */
const usualText = 64;
const usualItems = 16;

export function part<Subject>(
  type: Type,
  run: Run<Subject>,
  facts: Partial<Omit<Part<Subject>, 'type' | 'run'>> = {},
): Part<Subject> {
  const isText = type.name === 'string' || type.name === 'bytes';
  return { type, run, units: 1, size: isText ? usualText : usualItems, mayFail: true, constant: undefined, ...facts };
}

export function unitsOf(parts: readonly { readonly units: number }[]): number {
  return parts.reduce((sum, { units }) => sum + units, 0);
}

/** The part as one of a type, which is checked when it runs where that is not known before. */
export function expectType<Subject, Of extends Value>(
  given: Part<Subject>,
  wanted: Type<Of>,
  node: Node,
  what: string,
): (frame: Parameters<Run<Subject>>[0]) => Of {
  if (!fits(given.type, wanted))
    throw new ExpressionFault(node.at, `${what} must be a ${wanted.name}, and this is a ${given.type.name}`);
  const { run } = given;
  // The types that were checked say so.
  if (isSurely(given.type, wanted)) return run as (frame: Parameters<Run<Subject>>[0]) => Of;
  return (frame) => {
    const value = run(frame);
    if (!wanted.is(value)) throw frame.fault(`${what} must be a ${wanted.name}`);
    return value;
  };
}
