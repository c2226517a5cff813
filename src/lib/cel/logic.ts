import { expectType, part, unitsOf } from './part.ts';
import type { Part, Scope } from './part.ts';
import { BudgetSpent, EvaluationFault } from './run.ts';
import type { Run } from './run.ts';
import type { Node } from './tree.ts';
import { bool, commonType } from './types.ts';

/** Faults that another operand makes irrelevant; throws others. */
export function toleratedFault(error: unknown): EvaluationFault {
  if (!(error instanceof EvaluationFault) || error instanceof BudgetSpent) throw error;
  return error;
}

/** Joins conditions. `decides` is the value of one that settles the whole, whatever is wrong with others. */
export function compileJoined<Subject>(
  node: Extract<Node, { readonly kind: 'all' | 'any' }>,
  scope: Scope<Subject>,
): Part<Subject> {
  const decides = node.kind === 'any';
  const operator = decides ? '"||"' : '"&&"';
  const parts = node.of.map((each) => scope.compile(each, scope));
  const runs = parts.map((each, at) => expectType(each, bool, node.of[at] ?? node, `what ${operator} joins`));
  const facts = { units: unitsOf(parts) + 1, mayFail: parts.some(({ mayFail, type }) => mayFail || type !== bool) };
  return part(bool, facts.mayFail ? tolerant(runs, decides) : strict(runs, decides), facts);
}

function strict<Subject>(
  runs: readonly ((frame: Parameters<Run<Subject>>[0]) => boolean)[],
  decides: boolean,
): Run<Subject> {
  const [first, second] = runs;
  if (runs.length === 2 && first !== undefined && second !== undefined)
    return decides ? (frame) => first(frame) || second(frame) : (frame) => first(frame) && second(frame);
  return (frame) => {
    for (const run of runs) if (run(frame) === decides) return decides;
    return !decides;
  };
}

function tolerant<Subject>(
  runs: readonly ((frame: Parameters<Run<Subject>>[0]) => boolean)[],
  decides: boolean,
): Run<Subject> {
  return (frame) => {
    let fault: EvaluationFault | undefined;
    for (const run of runs) {
      try {
        if (run(frame) === decides) return decides;
      } catch (error) {
        fault ??= toleratedFault(error);
      }
    }
    if (fault !== undefined) throw fault;
    return !decides;
  };
}

export function compileNot<Subject>(
  node: Extract<Node, { readonly kind: 'not' | 'negate' }>,
  scope: Scope<Subject>,
): Part<Subject> {
  const of = scope.compile(node.of, scope);
  const run = expectType(of, bool, node.of, 'what "!" negates');
  return part(bool, negated(run), { units: of.units + 1, mayFail: of.mayFail || of.type !== bool });
}

function negated<Subject>(run: (frame: Parameters<Run<Subject>>[0]) => boolean): Run<Subject> {
  return (frame) => !run(frame);
}

export function compileChoice<Subject>(
  node: Extract<Node, { readonly kind: 'choice' }>,
  scope: Scope<Subject>,
): Part<Subject> {
  const [condition, yes, no] = [node.condition, node.yes, node.no].map((each) => scope.compile(each, scope)) as [
    Part<Subject>,
    Part<Subject>,
    Part<Subject>,
  ];
  const decide = expectType(condition, bool, node.condition, 'what stands before "?"');
  return part(commonType([yes.type, no.type]), choice(decide, yes.run, no.run), {
    units: condition.units + Math.max(yes.units, no.units) + 1,
    size: Math.max(yes.size, no.size),
    mayFail: condition.mayFail || condition.type !== bool || yes.mayFail || no.mayFail,
  });
}

function choice<Subject>(
  decide: (frame: Parameters<Run<Subject>>[0]) => boolean,
  yes: Run<Subject>,
  no: Run<Subject>,
): Run<Subject> {
  return (frame) => (decide(frame) ? yes(frame) : no(frame));
}
