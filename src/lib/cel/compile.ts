import type { Environment } from './environment.ts';
import { compileCall } from './calls.ts';
import { compileChoice, compileJoined, compileNot } from './logic.ts';
import { compileIndex, compileName } from './names.ts';
import { compileArithmetic, compileComparison, compileIn, compileNegation } from './operators.ts';
import { part, unitsOf } from './part.ts';
import type { Part, Scope } from './part.ts';
import type { Run } from './run.ts';
import { ExpressionFault } from './syntax-fault.ts';
import type { Node } from './tree.ts';
import {
  any,
  bool,
  bytes,
  commonType,
  double,
  fits,
  int,
  isSurely,
  listOf,
  mapOf,
  nothing,
  string,
  uint,
} from './types.ts';
import type { Type } from './types.ts';
import { asList, CelMap, Uint } from './values.ts';
import type { Value } from './values.ts';

/** Estimate of the work of one expression with a usual request, above which it is not accepted. */
const mostUnits = 20_000;

export interface Compiled<Subject> {
  readonly type: Type;
  readonly run: Run<Subject>;
  /** Estimate of what it costs with a usual request, in units. */
  readonly units: number;
  /** False: only a fault of the budget can come of it. */
  readonly mayFail: boolean;
}

/** Compiles an expression whose value must be of a type. Throws `ExpressionFault`. */
export function compile<Subject>(node: Node, environment: Environment<Subject>, wanted: Type = any): Compiled<Subject> {
  const { type, run, units, mayFail } = compilePart(node, { environment, locals: new Map(), compile: compilePart });
  if (!fits(type, wanted))
    throw new ExpressionFault(
      node.at,
      `it must be a ${wanted.name}, and is a ${type.name}${wanted === bool ? '; compare it with a value' : ''}`,
    );
  if (units > mostUnits)
    throw new ExpressionFault(
      node.at,
      `it takes too much work: about ${Math.round(units)} steps with a usual request, of ${mostUnits}; use fewer or smaller lists inside each other`,
    );
  const base = Math.ceil(Math.min(units, 50) / 2);
  const isSure = isSurely(type, wanted);
  const checked: Run<Subject> = (frame) => {
    const { budget } = frame;
    budget.left -= base;
    if (budget.left < 0) budget.spend(0);
    const value = run(frame);
    if (!isSure && !wanted.is(value)) throw frame.fault(`its value must be a ${wanted.name}`);
    return value;
  };
  return { type, run: checked, units, mayFail: mayFail || !isSure };
}

function compilePart<Subject>(node: Node, scope: Scope<Subject>): Part<Subject> {
  switch (node.kind) {
    case 'literal':
      return compileLiteral(node.value);
    case 'list':
      return compileList(node.items, scope);
    case 'map':
      return compileMap(node, scope);
    case 'name':
    case 'member':
      return compileName(node, scope);
    case 'index':
      return compileIndex(node, scope);
    case 'call':
      return compileCall(node, scope);
    case 'not':
      return compileNot(node, scope);
    case 'negate':
      return compileNegation(node, scope);
    case 'compare':
      return compileComparison(node, scope);
    case 'arithmetic':
      return compileArithmetic(node, scope);
    case 'in':
      return compileIn(node, scope);
    case 'choice':
      return compileChoice(node, scope);
    default:
      return compileJoined(node, scope);
  }
}

function compileLiteral<Subject>(value: Extract<Node, { readonly kind: 'literal' }>['value']): Part<Subject> {
  const size = typeof value === 'string' || value instanceof Uint8Array ? value.length : 1;
  return part(typeOfLiteral(value), constantRun<Subject>(value), { mayFail: false, constant: value, size });
}

function typeOfLiteral(value: Extract<Node, { readonly kind: 'literal' }>['value']): Type {
  if (value === null) return nothing;
  if (value instanceof Uint) return uint;
  if (value instanceof Uint8Array) return bytes;
  if (typeof value === 'string') return string;
  if (typeof value === 'boolean') return bool;
  return typeof value === 'bigint' ? int : double;
}

function compileList<Subject>(items: readonly Node[], scope: Scope<Subject>): Part<Subject> {
  const parts = items.map((each) => scope.compile(each, scope));
  const type = listOf(commonType(parts.map((each) => each.type)));
  const facts = { units: unitsOf(parts) + 1, size: parts.length, mayFail: parts.some(({ mayFail }) => mayFail) };
  const constants = parts.flatMap(({ constant }) => (constant === undefined ? [] : [constant]));
  if (constants.length === parts.length)
    return part(type, constantRun<Subject>(constants), { ...facts, constant: constants });
  return part(type, listRun(parts.map(({ run }) => run)), facts);
}

// What a closure can see, it keeps: these see what they need, and not the tree and the parts of which they were made.
function constantRun<Subject>(value: Value): Run<Subject> {
  return () => value;
}

function listRun<Subject>(runs: readonly Run<Subject>[]): Run<Subject> {
  return (frame) => {
    frame.budget.spend(runs.length / 4);
    return runs.map((run) => run(frame));
  };
}

function compileMap<Subject>(
  { entries }: Extract<Node, { readonly kind: 'map' }>,
  scope: Scope<Subject>,
): Part<Subject> {
  const parts = entries.map(([key, value]) => [scope.compile(key, scope), scope.compile(value, scope)] as const);
  const keys = parts.map(([{ type }], at) => checkKey(type, entries[at]?.[0]));
  const type = mapOf(commonType(keys), commonType(parts.map(([, value]) => value.type)));
  const run = mapRun(parts.map(([key, value]) => [key.run, value.run] as const));
  return part(type, run, { units: unitsOf(parts.flat()) + 1, size: parts.length });
}

function mapRun<Subject>(runs: readonly (readonly [key: Run<Subject>, value: Run<Subject>])[]): Run<Subject> {
  return (frame) => {
    frame.budget.spend(8 + runs.length * 2);
    const made = new CelMap(
      runs.map(([key, value]) => {
        const name = key(frame);
        if (!isKey(name)) throw frame.fault('a key must be a text, an integer or a bool');
        return [name, value(frame)] as const;
      }),
    );
    if (made.size < runs.length) throw frame.fault('a map has the same key twice');
    return made;
  };
}

function checkKey(type: Type, node: Node | undefined): Type {
  if (![string, int, uint, bool].some((each) => fits(type, each)))
    throw new ExpressionFault(node?.at ?? 1, `a key must be a text, an integer or a bool, and this is a ${type.name}`);
  return type;
}

function isKey(value: Value): boolean {
  return (
    asList(value) === undefined && (value instanceof Uint || ['string', 'bigint', 'boolean'].includes(typeof value))
  );
}
