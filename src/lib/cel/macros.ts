import { toleratedFault } from './logic.ts';
import type { Work } from './environment.ts';
import { expectType, part } from './part.ts';
import type { Part, Scope } from './part.ts';
import { checkItems } from './operators.ts';
import type { EvaluationFault, Frame, Run } from './run.ts';
import { ExpressionFault } from './syntax-fault.ts';
import { childrenOf } from './tree.ts';
import type { Node } from './tree.ts';
import { any, bool, listOf, typeOf } from './types.ts';
import type { Type } from './types.ts';
import { asList, CelMap, compareValues, payForOrder } from './values.ts';
import type { Value } from './values.ts';

type Call = Extract<Node, { readonly kind: 'call' }>;

/** Macros by name, with the numbers of their arguments: the first is the name of an item. */
const macros: ReadonlyMap<string, readonly number[]> = new Map([
  ['all', [2]],
  ['exists', [2]],
  ['exists_one', [2]],
  ['existsOne', [2]],
  ['filter', [2]],
  ['map', [2, 3]],
  ['sortBy', [2]],
]);

export const macroNames: readonly string[] = [...macros.keys()];

/** True where a call is one of a macro. */
export function isMacro({ name, of }: Call): boolean {
  return of !== undefined && macros.has(name);
}

/** What a macro keeps to run. */
interface Loop<Subject> {
  readonly range: Run<Subject>;
  readonly place: number;
  /** Units of one round beside what it charges itself. */
  readonly units: number;
}

interface CompiledLoop<Subject> {
  readonly loop: Loop<Subject>;
  readonly range: Part<Subject>;
  readonly itemType: Type;
  /** Parts that are run for each item. */
  readonly bodies: readonly Part<Subject>[];
  readonly nodes: readonly Node[];
}

export function compileMacro<Subject>(node: Call, scope: Scope<Subject>): Part<Subject> {
  const compiled = compileLoop(node, scope);
  const { loop, range, bodies, itemType, nodes } = compiled;
  const units = range.units + range.size * (loop.units + bodies.reduce((sum, body) => sum + body.units, 0));
  const [first] = bodies as [Part<Subject>];
  const test = () => expectType(first, bool, nodes[0] ?? node, `what ${node.name}() asks of each item`);
  switch (node.name) {
    case 'all':
      return part(bool, quantified(loop, test(), false), { units });
    case 'exists':
      return part(bool, quantified(loop, test(), true), { units });
    case 'filter':
      return part(listOf(itemType), filtered(loop, test()), { units, size: range.size });
    case 'map':
      return mapped(compiled, node, units);
    case 'sortBy':
      return part(listOf(itemType), sorted(loop, first.run), { units: units * 2, size: range.size });
    default:
      return part(bool, exactlyOne(loop, test()), { units });
  }
}

function compileLoop<Subject>(node: Call, scope: Scope<Subject>): CompiledLoop<Subject> {
  const counts = macros.get(node.name) ?? [];
  const [variable, ...nodes] = node.items;
  if (node.of === undefined || variable?.kind !== 'name' || !counts.includes(node.items.length))
    throw new ExpressionFault(
      node.at,
      `${node.name}() takes a name for each item and what to ask of it, as in ${node.name}(x, x != '')`,
    );
  const range = scope.compile(node.of, scope);
  const { kind, name } = range.type;
  if (kind !== 'any' && kind !== 'list' && kind !== 'map' && kind !== 'object')
    throw new ExpressionFault(node.of.at, `${node.name}() goes through a list or a map, and this is a ${name}`);
  const itemType = (kind === 'list' ? range.type.item : kind === 'map' ? range.type.key : undefined) ?? any;
  const place = scope.locals.size;
  const locals = new Map(scope.locals);
  // A name may hide another one, which keeps its place.
  locals.set(scope.locals.has(variable.name) ? ` hidden ${place}` : variable.name, { place, type: itemType });
  locals.set(variable.name, { place, type: itemType });
  const bodies = nodes.map((each) => scope.compile(each, { ...scope, locals }));
  const units = nodes.reduce((sum, each) => sum + countNodes(each), 1);
  return { loop: { range: range.run, place, units }, range, itemType, bodies, nodes };
}

function countNodes(root: Node): number {
  let count = 0;
  for (const left = [root]; ; count++) {
    const node = left.pop();
    if (node === undefined) return count;
    left.push(...childrenOf(node));
  }
}

function itemsOf<Subject>({ range }: Loop<Subject>, frame: Frame<Subject>): readonly Value[] {
  const value = range(frame);
  const items = value instanceof CelMap ? value.keys() : asList(value);
  if (items === undefined) throw frame.fault(`a ${typeOf(value)} is no list and no map`);
  return items;
}

type Test<Subject> = (frame: Frame<Subject>) => boolean;

function quantified<Subject>(loop: Loop<Subject>, test: Test<Subject>, decides: boolean): Test<Subject> {
  return (frame) => {
    let fault: EvaluationFault | undefined;
    for (const item of itemsOf(loop, frame)) {
      enter(loop, frame, item);
      try {
        if (test(frame) === decides) return decides;
      } catch (error) {
        fault ??= toleratedFault(error);
      }
    }
    if (fault !== undefined) throw fault;
    return !decides;
  };
}

function exactlyOne<Subject>(loop: Loop<Subject>, test: Test<Subject>): Test<Subject> {
  return (frame) => {
    let count = 0;
    for (const item of itemsOf(loop, frame)) {
      enter(loop, frame, item);
      if (test(frame)) count++;
    }
    return count === 1;
  };
}

function filtered<Subject>(loop: Loop<Subject>, test: Test<Subject>): (frame: Frame<Subject>) => Value {
  return (frame) =>
    itemsOf(loop, frame).filter((item) => {
      enter(loop, frame, item);
      return test(frame);
    });
}

function mapped<Subject>(
  { loop, range, bodies, nodes }: CompiledLoop<Subject>,
  node: Call,
  units: number,
): Part<Subject> {
  const [first, second] = bodies as [Part<Subject>, Part<Subject> | undefined];
  const result = second ?? first;
  const test =
    second === undefined ? undefined : expectType(first, bool, nodes[0] ?? node, 'what map() asks of each item');
  return part(listOf(result.type), mappedRun(loop, test, result.run), { units, size: range.size });
}

function mappedRun<Subject>(loop: Loop<Subject>, test: Test<Subject> | undefined, result: Run<Subject>): Run<Subject> {
  return (frame) => {
    const values: Value[] = [];
    for (const item of itemsOf(loop, frame)) {
      enter(loop, frame, item);
      if (test === undefined || test(frame)) values.push(result(frame));
    }
    checkItems(values.length, frame);
    return values;
  };
}

function sorted<Subject>(loop: Loop<Subject>, key: (frame: Frame<Subject>) => Value) {
  return (frame: Frame<Subject>): Value => {
    const keyed = itemsOf(loop, frame).map((item) => {
      enter(loop, frame, item);
      return { item, key: key(frame) };
    });
    return sortValues(keyed, frame).map(({ item }) => item);
  };
}

/** In the order of their keys, which must be of one type. */
export function sortValues<Item extends { readonly key: Value }>(
  items: readonly Item[],
  work: Pick<Work<unknown>, 'budget' | 'fault'>,
): readonly Item[] {
  const [first] = items;
  const { spend } = work.budget;
  spend(items.length * Math.ceil(Math.log2(items.length + 1)));
  const orderOf = (one: Value, other: Value): number | undefined => {
    payForOrder(one, other, spend);
    return compareValues(one, other);
  };
  if (
    first !== undefined &&
    items.some(({ key }) => typeOf(key) !== typeOf(first.key) || orderOf(key, first.key) === undefined)
  )
    throw work.fault('only values of one type that have an order can be sorted');
  return items.toSorted((one, other) => orderOf(one.key, other.key) ?? 0);
}

function enter<Subject>({ units, place }: Loop<Subject>, frame: Frame<Subject>, item: Value): void {
  frame.budget.spend(units);
  frame.locals[place] = item;
}
