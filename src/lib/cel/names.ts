import { nearestName } from '../nearest-name.ts';
import type { Environment, Variable } from './environment.ts';
import { part } from './part.ts';
import type { Part, Scope } from './part.ts';
import type { Run } from './run.ts';
import { ExpressionFault } from './syntax-fault.ts';
import type { Node } from './tree.ts';
import { any, bool, int, string, typeName, typeOf } from './types.ts';
import type { Type } from './types.ts';
import { asList, CelMap, isNumeric, TypeName, Uint } from './values.ts';

type Member = Extract<Node, { readonly kind: 'member' }>;
type Name = Extract<Node, { readonly kind: 'name' }>;

/** Types as expressions name them. */
const typeNames = new Set(['bool', 'int', 'uint', 'double', 'string', 'bytes', 'list', 'map', 'null_type', 'type']);

/** A name, or what a value has below one. */
export function compileName<Subject>(node: Member | Name, scope: Scope<Subject>): Part<Subject> {
  if (node.kind === 'name') {
    const local = scope.locals.get(node.name);
    if (local !== undefined) return part(local.type, localRun<Subject>(local.place), { mayFail: false });
  }
  const names = namesOf(node, scope);
  if (names === undefined) return member(node, scope);
  const found = findVariable(names, scope.environment);
  if (found === undefined) {
    const [only = ''] = names;
    if (names.length === 1 && typeNames.has(only)) {
      return part(typeName, typeRun<Subject>(new TypeName(only)), { mayFail: false });
    }
    throw unknownName(names, node.at, scope.environment);
  }
  if (found.length < names.length && found.variable.type.kind === 'plain')
    throw unknownName(names, node.at, scope.environment);
  // Members behind a variable are those of its value.
  return found.length === names.length ? variablePart(found, names) : member(node, scope);
}

function member<Subject>(node: Member | Name, scope: Scope<Subject>): Part<Subject> {
  if (node.kind === 'name') throw unknownName([node.name], node.at, scope.environment);
  return select(scope.compile(node.of, scope), node);
}

function typeRun<Subject>(type: TypeName): Run<Subject> {
  return () => type;
}

function localRun<Subject>(place: number): Run<Subject> {
  return ({ locals }) => locals[place] ?? null;
}

/** The dotted name that a node is; undefined where it is below something else, such as a call or a name of a macro. */
function namesOf<Subject>(node: Node, { locals }: Scope<Subject>): readonly string[] | undefined {
  const names: string[] = [];
  let each = node;
  while (each.kind === 'member') {
    names.push(each.name);
    each = each.of;
  }
  if (each.kind !== 'name' || locals.has(each.name)) return undefined;
  return [...names, each.name].toReversed();
}

interface Found<Subject> {
  readonly variable: Variable<Subject>;
  /** Names that it takes. */
  readonly length: number;
}

function findVariable<Subject>(
  names: readonly string[],
  { variables, free }: Environment<Subject>,
): Found<Subject> | undefined {
  for (let length = names.length; length > 0; length--) {
    const variable = variables.get(names.slice(0, length).join('.'));
    if (variable !== undefined) return { variable, length };
    const name = names[length - 1] ?? '';
    const make = free.get(names.slice(0, length - 1).join('.'));
    if (make !== undefined) return { variable: make(name), length };
  }
  return undefined;
}

function variablePart<Subject>({ variable }: Found<Subject>, names: readonly string[]): Part<Subject> {
  const { type, get, isSure } = variable;
  return isSure ? part(type, sureRun(get), { mayFail: false }) : part(type, variableRun(get, names.join('.')));
}

/** A variable that is sure is never undefined. */
function sureRun<Subject>(get: Variable<Subject>['get']): Run<Subject> {
  return ({ subject }) => get(subject) ?? null;
}

function variableRun<Subject>(get: Variable<Subject>['get'], name: string): Run<Subject> {
  return (frame) => {
    const value = get(frame.subject);
    if (value === undefined) throw frame.fault(`${name} is not there`);
    return value;
  };
}

function unknownName<Subject>(
  names: readonly string[],
  at: number,
  { variables, free, notOffered }: Environment<Subject>,
): ExpressionFault {
  const whole = names.join('.');
  for (let length = names.length; length > 0; length--) {
    const reason = notOffered.get(names.slice(0, length).join('.'));
    if (reason !== undefined) return new ExpressionFault(at, `${whole} is not offered here: ${reason}`);
  }
  const below = [...variables.keys()].filter((name) => name.startsWith(`${whole}.`));
  if (below.length > 0) return new ExpressionFault(at, `${whole} is no value; below it are ${shorten(below)}`);
  if (free.has(whole)) return new ExpressionFault(at, `${whole} is no value; name one below it, as in ${whole}.name`);
  const nearest = nearestName(whole, [...variables.keys()]);
  if (nearest !== undefined) return new ExpressionFault(at, `there is no ${whole} (did you mean ${nearest}?)`);
  const siblings = [...variables.keys()].filter(
    (name) => names.length > 1 && name.startsWith(`${names.slice(0, -1).join('.')}.`),
  );
  const known = siblings.length > 0 ? `; there are ${shorten(siblings)}` : '; a text is written in quotes';
  return new ExpressionFault(at, `there is no ${whole}${known}`);
}

function shorten(names: readonly string[]): string {
  const shown = names.slice(0, 12).join(', ');
  return names.length > 12 ? `${shown} and others` : shown;
}

function select<Subject>(of: Part<Subject>, { name, at }: Member): Part<Subject> {
  return part(memberType(of.type, name, at), memberRun(of.run, name), { units: of.units + 1 });
}

function memberRun<Subject>(run: Run<Subject>, name: string): Run<Subject> {
  return (frame) => {
    const value = run(frame);
    const found = value instanceof CelMap ? value.find(name) : undefined;
    if (found === undefined) throw frame.fault(`there is no ${name} in this ${typeOf(value)} (no such key)`);
    return found;
  };
}

function memberType(
  { kind, name: typeText, fields = {}, item = any, key = any }: Type,
  name: string,
  at: number,
): Type {
  if (kind === 'any') return any;
  if (kind === 'map' && (key === string || key === any)) return item;
  if (kind !== 'object')
    throw new ExpressionFault(at, `a ${typeText} has nothing below it, and ".${name}" asks for that`);
  const found = Object.hasOwn(fields, name) ? fields[name] : undefined;
  if (found !== undefined) return found;
  const nearest = nearestName(name, Object.keys(fields));
  const meant = nearest === undefined ? '' : ` (did you mean ${nearest}?)`;
  throw new ExpressionFault(at, `a ${typeText} has no ${name}${meant}; it has ${Object.keys(fields).join(', ')}`);
}

export function compileIndex<Subject>(
  node: Extract<Node, { readonly kind: 'index' }>,
  scope: Scope<Subject>,
): Part<Subject> {
  const [of, index] = [scope.compile(node.of, scope), scope.compile(node.index, scope)];
  const type = indexType(of.type, index.type, node);
  return part(type, indexRun(of.run, index.run), { units: of.units + index.units + 1 });
}

function indexRun<Subject>(of: Run<Subject>, index: Run<Subject>): Run<Subject> {
  return (frame) => {
    const [value, key] = [of(frame), index(frame)];
    if (value instanceof CelMap) {
      const found = value.find(key);
      if (found === undefined) throw frame.fault('the map has no such key');
      return found;
    }
    const items = asList(value);
    const place = isNumeric(key) ? Number(key instanceof Uint ? key.value : key) : Number.NaN;
    const item = items?.[place];
    if (item !== undefined) return item;
    if (items === undefined) throw frame.fault(`a ${typeOf(value)} has no items`);
    throw frame.fault(`the list has ${items.length} items, and none at this place (index out of bounds)`);
  };
}

function indexType(
  { kind, name, item = any, key = any, fields = {} }: Type,
  index: Type,
  { index: node, at }: Extract<Node, { readonly kind: 'index' }>,
): Type {
  if (kind === 'any') return any;
  if (kind === 'list') {
    if (index !== int && index.kind !== 'any')
      throw new ExpressionFault(node.at, `an item of a list is named by its place, from 0, not by a ${index.name}`);
    return item;
  }
  if (kind === 'map') {
    if (index.kind !== 'any' && key.kind !== 'any' && index !== key)
      throw new ExpressionFault(node.at, `the keys of this map are of type ${key.name}, not ${index.name}`);
    return item;
  }
  if (kind === 'object')
    return node.kind === 'literal' && typeof node.value === 'string'
      ? memberType({ kind, name, fields, is: any.is }, node.value, node.at)
      : any;
  throw new ExpressionFault(at, `a ${name} has no items`);
}

/** `has(a.b)`: whether it is there. */
export function compileHas<Subject>(
  node: Extract<Node, { readonly kind: 'call' }>,
  scope: Scope<Subject>,
): Part<Subject> {
  const [item, ...more] = node.items;
  if (item?.kind !== 'member' || more.length > 0)
    throw new ExpressionFault(node.at, 'has() takes one name below another, as in has(req.cookies.session)');
  const names = namesOf(item, scope);
  const found = names === undefined ? undefined : findVariable(names, scope.environment);
  if (names !== undefined && found?.length === names.length) {
    return part(bool, isThere(found.variable.get), { mayFail: false });
  }
  if (names !== undefined && found === undefined) throw unknownName(names, item.at, scope.environment);
  const of = scope.compile(item.of, scope);
  if (of.type.kind === 'plain' || of.type.kind === 'list') memberType(of.type, item.name, item.at);
  return part(bool, hasMember(of.run, item.name), { units: of.units + 1 });
}

function isThere<Subject>(get: Variable<Subject>['get']): Run<Subject> {
  return ({ subject }) => get(subject) !== undefined;
}

function hasMember<Subject>(run: Run<Subject>, name: string): Run<Subject> {
  return (frame) => {
    const value = run(frame);
    if (!(value instanceof CelMap)) throw frame.fault(`a ${typeOf(value)} has nothing below it`);
    return value.get(name) !== undefined;
  };
}
