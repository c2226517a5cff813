import type { Budget } from './run.ts';
import type { Type } from './types.ts';
import type { Value } from './values.ts';

/** Something that expressions may name, such as `req.url.path`. */
export interface Variable<Subject> {
  readonly type: Type;
  /** True: it is never absent. */
  readonly isSure?: true;
  /** Undefined: it is absent. */
  get(this: void, subject: Subject): Value | undefined;
}

/** What a function needs beside its arguments. */
export interface Work<Subject> {
  readonly subject: Subject;
  readonly budget: Budget;
  /** `detail`: what only the owner of the expression may read. */
  fault(message: string, detail?: string): Error;
}

/** One form of a function, by the types of its arguments; of a method, the first is what it is called on. */
export interface Overload<Subject> {
  readonly isMethod: boolean;
  readonly parameters: readonly Type[];
  readonly result: Type | ((given: readonly Type[]) => Type);
  run(this: void, values: readonly Value[], work: Work<Subject>): Value;
  /** Checks arguments that are written out, when the expression is compiled. Returns what is wrong with them. */
  readonly check?: (values: readonly (Value | undefined)[]) => string | undefined;
  /** Size of the result for arguments of these sizes. */
  readonly size?: (sizes: readonly number[], values: readonly (Value | undefined)[]) => number;
  /** The same for two texts, of which the second is written out, without an array of them. */
  readonly ofTexts?: (this: void, left: string, right: string) => boolean;
  /** Makes the function ready where arguments are written out. */
  readonly prepare?: (values: readonly (Value | undefined)[]) => Overload<Subject>['run'] | undefined;
  /** Only a fault of the budget can come of it. */
  readonly isTotal?: true;
}

export interface Environment<Subject> {
  /** By dotted name. */
  readonly variables: ReadonlyMap<string, Variable<Subject>>;
  /** Types of names below prefixes such as `vars`, whose names are free. */
  readonly free: ReadonlyMap<string, (name: string) => Variable<Subject>>;
  readonly functions: ReadonlyMap<string, readonly Overload<Subject>[]>;
  /** Why a variable or function is not offered, by its name; of a variable also by the start of it. */
  readonly notOffered: ReadonlyMap<string, string>;
}
