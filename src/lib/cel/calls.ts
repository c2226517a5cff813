import { nearestName } from '../nearest-name.ts';
import type { Environment, Overload } from './environment.ts';
import { compileMacro, isMacro, macroNames } from './macros.ts';
import { compileHas } from './names.ts';
import { part, unitsOf } from './part.ts';
import type { Part, Scope } from './part.ts';
import type { Run } from './run.ts';
import { ExpressionFault } from './syntax-fault.ts';
import type { Node } from './tree.ts';
import { commonType, fits, isSurely, string, typeOf } from './types.ts';
import type { Value } from './values.ts';

type Call = Extract<Node, { readonly kind: 'call' }>;

export function compileCall<Subject>(node: Call, scope: Scope<Subject>): Part<Subject> {
  if (node.name === 'has' && node.of === undefined) return compileHas(node, scope);
  const { functions } = scope.environment;
  const space = spaceOf(node.of, scope);
  const inSpace = space === undefined ? undefined : `${space}.${node.name}`;
  if (inSpace !== undefined && functions.has(inSpace)) return callOf(node, inSpace, node.items, false, scope);
  refuse(inSpace ?? (node.of === undefined ? node.name : `.${node.name}`), node.at, scope.environment);
  if (space !== undefined && isSpace(space, scope.environment))
    throw unknownFunction(node, inSpace ?? '', scope.environment);
  if (isMacro(node)) return compileMacro(node, scope);
  const isMethod = node.of !== undefined;
  if (!(functions.get(node.name) ?? []).some((each) => each.isMethod === isMethod))
    throw unknownFunction(node, node.name, scope.environment);
  return callOf(node, node.name, node.of === undefined ? node.items : [node.of, ...node.items], isMethod, scope);
}

/** The name in front of a call such as `hash.md5(…)`; undefined where something else is called on. */
function spaceOf<Subject>(of: Node | undefined, { locals }: Scope<Subject>): string | undefined {
  return of?.kind === 'name' && !locals.has(of.name) ? of.name : undefined;
}

function isSpace<Subject>(space: string, { functions, notOffered }: Environment<Subject>): boolean {
  const start = `${space}.`;
  return [...functions.keys(), ...notOffered.keys()].some((name) => name.startsWith(start)) && space !== 'req';
}

function refuse<Subject>(name: string, at: number, { notOffered }: Environment<Subject>): void {
  const space = name.includes('.') ? name.slice(0, name.indexOf('.')) : '';
  const reason = notOffered.get(`${name}()`) ?? (space === '' ? undefined : notOffered.get(`${space}.*()`));
  if (reason !== undefined)
    throw new ExpressionFault(at, `${name.replace(/^\./, '')}() is not offered here: ${reason}`);
}

function unknownFunction<Subject>(
  { of, at }: Call,
  name: string,
  { functions }: Environment<Subject>,
): ExpressionFault {
  const isMethod = of !== undefined && !name.includes('.');
  const known = [...functions]
    .filter(([, overloads]) => overloads.some((each) => each.isMethod === isMethod))
    .map(([each]) => each);
  const elsewhere = functions.has(name);
  if (elsewhere)
    return new ExpressionFault(
      at,
      isMethod
        ? `${name}() is called on nothing: write ${name}(…)`
        : `${name}() is called on a value: write value.${name}(…)`,
    );
  const nearest = nearestName(name, isMethod ? [...known, ...macroNames] : known);
  const meant = nearest === undefined ? '' : ` (did you mean ${nearest}()?)`;
  return new ExpressionFault(at, `there is no function ${name}()${meant}`);
}

function callOf<Subject>(
  node: Call,
  name: string,
  items: readonly Node[],
  isMethod: boolean,
  scope: Scope<Subject>,
): Part<Subject> {
  const parts = items.map((each) => scope.compile(each, scope));
  const types = parts.map(({ type }) => type);
  const all = (scope.environment.functions.get(name) ?? []).filter((each) => each.isMethod === isMethod);
  const found = all.filter(
    ({ parameters }) =>
      parameters.length === parts.length && parameters.every((wanted, at) => fits(types[at] ?? wanted, wanted)),
  );
  if (found.length === 0)
    throw noOverload(
      node,
      name,
      types.map((type) => type.name),
      all,
    );
  const constants = parts.map(({ constant }) => constant);
  for (const { check } of found) {
    const reason = found.length === 1 ? check?.(constants) : undefined;
    if (reason !== undefined) throw new ExpressionFault(node.at, `${name}(): ${reason}`);
  }
  const [first] = found as [Overload<Subject>];
  const isSure = found.length === 1 && first.parameters.every((wanted, at) => isSurely(types[at] ?? wanted, wanted));
  const results = found.map(({ result }) => (typeof result === 'function' ? result(types) : result));
  const sizes = parts.map(({ size }) => size);
  const size = first.size?.(sizes, constants);
  return part(commonType(results), isSure ? directRun(first, parts) : searchingRun(name, found, parts), {
    units: unitsOf(parts) + callUnits + sizes.reduce((sum, each) => sum + each, 0) / 16,
    ...(size === undefined ? {} : { size }),
    mayFail: !isSure || first.isTotal !== true || parts.some(({ mayFail }) => mayFail),
  });
}

function noOverload(
  node: Call,
  name: string,
  given: readonly string[],
  all: readonly Overload<never>[],
): ExpressionFault {
  const isMethod = node.of !== undefined && all[0]?.isMethod === true;
  const show = (types: readonly string[]) =>
    isMethod ? `${types[0] ?? ''}.${name}(${types.slice(1).join(', ')})` : `${name}(${types.join(', ')})`;
  const forms = all.map(({ parameters }) => show(parameters.map((type) => type.name)));
  const remedy =
    given[0] === 'list(string)' && isMethod ? '; take one item, as in [0], or go through all with exists(x, …)' : '';
  return new ExpressionFault(
    node.at,
    `${show(given)} is no call that is offered${remedy}; there is ${forms.join(', ')}`,
  );
}

/** What a call costs beside its work. */
const callUnits = 3;

/** The types are known: there is nothing to choose. */
function directRun<Subject>(overload: Overload<Subject>, parts: readonly Part<Subject>[]): Run<Subject> {
  const { ofTexts } = overload;
  const [left, right] = parts;
  const end = right?.constant;
  if (ofTexts !== undefined && left?.type === string && typeof end === 'string' && parts.length === 2) {
    // The type that was checked says so.
    const one = left.run as (frame: Parameters<Run<Subject>>[0]) => string;
    return (frame) => ofTexts(one(frame), end);
  }
  const run = overload.prepare?.(parts.map(({ constant }) => constant)) ?? overload.run;
  const runs = parts.map((each) => each.run);
  return (frame) => {
    frame.budget.spend(callUnits);
    return run(
      runs.map((each) => each(frame)),
      frame,
    );
  };
}

function searchingRun<Subject>(
  name: string,
  found: readonly Overload<Subject>[],
  parts: readonly Part<Subject>[],
): Run<Subject> {
  const runs = parts.map((each) => each.run);
  return (frame) => {
    frame.budget.spend(callUnits);
    const values: readonly Value[] = runs.map((each) => each(frame));
    const meant = found.find(({ parameters }) => parameters.every((wanted, at) => wanted.is(values[at] ?? null)));
    if (meant === undefined) throw frame.fault(`${name}() does not take ${values.map(typeOf).join(', ')}`);
    return meant.run(values, frame);
  };
}
