import type { Work } from './environment.ts';
import { part } from './part.ts';
import type { Part, Scope } from './part.ts';
import { longestText, mostItems } from './run.ts';
import type { Run } from './run.ts';
import { ExpressionFault } from './syntax-fault.ts';
import type { Arithmetic, Node } from './tree.ts';
import {
  any,
  bool,
  bytes,
  double,
  duration,
  fits,
  int,
  isSurely,
  list,
  string,
  timestamp,
  typeOf,
  uint,
} from './types.ts';
import type { Type } from './types.ts';
import { asList, CelMap, compareValues, Duration, equal, payForOrder, Timestamp, Uint } from './values.ts';
import type { Value } from './values.ts';

const [leastInt, mostInt, mostUint] = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 64n - 1n];
/** From the year 1 to 9999, in nanoseconds since 1970; and what 64 bits of nanoseconds hold, 292 years. */
const [firstTime, lastTime] = [-62_135_596_800_000_000_000n, 253_402_300_799_999_999_999n];
const longestDuration = 2n ** 63n - 1n;

export function checkedInt(value: bigint, work: Pick<Work<unknown>, 'fault'>): bigint {
  if (value < leastInt || value > mostInt) throw work.fault('the number does not fit into 64 bits (overflow)');
  return value;
}

export function checkedUint(value: bigint, work: Pick<Work<unknown>, 'fault'>): Uint {
  if (value < 0n || value > mostUint)
    throw work.fault('the number does not fit into 64 bits without a sign (overflow)');
  return new Uint(value);
}

export function checkedTime(nanos: bigint, work: Pick<Work<unknown>, 'fault'>): Timestamp {
  if (nanos < firstTime || nanos > lastTime) throw work.fault('the time is not between the years 1 and 9999 (range)');
  return new Timestamp(nanos);
}

export function checkedDuration(nanos: bigint, work: Pick<Work<unknown>, 'fault'>): Duration {
  const isTooLong = nanos > longestDuration || nanos < -longestDuration;
  if (isTooLong) throw work.fault('the duration is longer than 292 years (range)');
  return new Duration(nanos);
}

/** What the operators take, and what comes of it. */
const forms: Readonly<Record<Arithmetic, readonly (readonly [left: Type, right: Type, result: Type])[]>> = {
  '+': [
    [int, int, int],
    [uint, uint, uint],
    [double, double, double],
    [string, string, string],
    [bytes, bytes, bytes],
    [list, list, list],
    [timestamp, duration, timestamp],
    [duration, timestamp, timestamp],
    [duration, duration, duration],
  ],
  '-': [
    [int, int, int],
    [uint, uint, uint],
    [double, double, double],
    [timestamp, timestamp, duration],
    [timestamp, duration, timestamp],
    [duration, duration, duration],
  ],
  '*': [
    [int, int, int],
    [uint, uint, uint],
    [double, double, double],
  ],
  '/': [
    [int, int, int],
    [uint, uint, uint],
    [double, double, double],
  ],
  '%': [
    [int, int, int],
    [uint, uint, uint],
  ],
};

export function compileArithmetic<Subject>(
  node: Extract<Node, { readonly kind: 'arithmetic' }>,
  scope: Scope<Subject>,
): Part<Subject> {
  const { operator, at } = node;
  const [left, right] = [scope.compile(node.left, scope), scope.compile(node.right, scope)];
  const found = forms[operator].filter((form) => fits(left.type, form[0]) && fits(right.type, form[1]));
  const [form] = found;
  if (form === undefined) throw new ExpressionFault(at, noForm(operator, left.type, right.type));
  const type = found.length > 1 ? any : form[2] === list && left.type.name === right.type.name ? left.type : form[2];
  return part(type, arithmeticRun(operator, left.run, right.run), {
    units: left.units + right.units + 1,
    size: operator === '+' ? left.size + right.size : usual,
  });
}

function arithmeticRun<Subject>(operator: Arithmetic, left: Run<Subject>, right: Run<Subject>): Run<Subject> {
  return (frame) => {
    const [one, other] = [left(frame), right(frame)];
    const result = calculate(operator, one, other, frame);
    if (result === undefined) throw frame.fault(`"${operator}" does not take ${typeOf(one)} and ${typeOf(other)}`);
    return result;
  };
}

const usual = 16;

function noForm(operator: Arithmetic, left: Type, right: Type): string {
  const isNumber = (type: Type) => numbers.has(type);
  const remedy =
    isNumber(left) && isNumber(right)
      ? `; convert one of them, as in ${left.name}(…)`
      : operator === '+' && (left === string || right === string)
        ? '; make the other one a text with string(…)'
        : '';
  return `"${operator}" does not take ${left.name} and ${right.name}${remedy}`;
}

/** Undefined: there is no such operation. */
function calculate(operator: Arithmetic, left: Value, right: Value, work: Work<unknown>): Value | undefined {
  if (typeof left === 'bigint' && typeof right === 'bigint') return ofInts(operator, left, right, work);
  if (typeof left === 'number' && typeof right === 'number') return ofDoubles(operator, left, right);
  if (left instanceof Uint && right instanceof Uint) {
    if (right.value === 0n && (operator === '/' || operator === '%')) throw byZero(operator, work);
    return checkedUint(plainInt(operator, left.value, right.value), work);
  }
  const sum = operator === '+' ? join(left, right, work) : undefined;
  return sum ?? (operator === '+' || operator === '-' ? ofTimes(operator, left, right, work) : undefined);
}

function ofInts(operator: Arithmetic, left: bigint, right: bigint, work: Work<unknown>): bigint {
  if (right === 0n && (operator === '/' || operator === '%')) throw byZero(operator, work);
  if (operator === '%' && left === leastInt && right === -1n) return checkedInt(mostInt + 1n, work);
  return checkedInt(plainInt(operator, left, right), work);
}

function byZero(operator: Arithmetic, work: Work<unknown>): Error {
  return work.fault(operator === '/' ? 'a number is divided by zero' : 'a modulus by zero was asked for');
}

function plainInt(operator: Arithmetic, left: bigint, right: bigint): bigint {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    default:
      return left % right;
  }
}

function ofDoubles(operator: Arithmetic, left: number, right: number): number | undefined {
  switch (operator) {
    case '+':
      return left + right;
    case '-':
      return left - right;
    case '*':
      return left * right;
    case '/':
      return left / right;
    default:
      return undefined;
  }
}

function join(left: Value, right: Value, work: Work<unknown>): Value | undefined {
  if (typeof left === 'string' && typeof right === 'string') {
    checkText(left.length + right.length, work);
    return left + right;
  }
  if (left instanceof Uint8Array && right instanceof Uint8Array) {
    checkText(left.length + right.length, work);
    return Buffer.concat([left, right]);
  }
  const [one, other] = [asList(left), asList(right)];
  if (one === undefined || other === undefined) return undefined;
  checkItems(one.length + other.length, work);
  return [...one, ...other];
}

/** Pays for a text of this length, or refuses it. */
export function checkText(length: number, work: Pick<Work<unknown>, 'budget' | 'fault'>): void {
  work.budget.spend(length / 64);
  if (length > longestText) throw work.fault(`a text is longer than ${longestText} characters`);
}

/** Pays for a list of this length, or refuses it. */
export function checkItems(count: number, work: Pick<Work<unknown>, 'budget' | 'fault'>): void {
  work.budget.spend(count / 4);
  if (count > mostItems) throw work.fault(`a list has more than ${mostItems} items`);
}

function ofTimes(operator: '+' | '-', left: Value, right: Value, work: Work<unknown>): Value | undefined {
  const sign = operator === '+' ? 1n : -1n;
  if (left instanceof Timestamp && right instanceof Duration) return checkedTime(left.nanos + sign * right.nanos, work);
  if (left instanceof Duration && right instanceof Duration)
    return checkedDuration(left.nanos + sign * right.nanos, work);
  if (operator === '+' && left instanceof Duration && right instanceof Timestamp)
    return checkedTime(left.nanos + right.nanos, work);
  if (operator === '-' && left instanceof Timestamp && right instanceof Timestamp)
    return checkedDuration(left.nanos - right.nanos, work);
  return undefined;
}

export function compileNegation<Subject>(
  node: Extract<Node, { readonly kind: 'not' | 'negate' }>,
  scope: Scope<Subject>,
): Part<Subject> {
  const of = scope.compile(node.of, scope);
  if (!fits(of.type, int) && !fits(of.type, double))
    throw new ExpressionFault(node.at, `"-" does not take a ${of.type.name}`);
  return part(of.type, negated(of.run), { units: of.units + 1 });
}

function negated<Subject>(run: Run<Subject>): Run<Subject> {
  return (frame) => {
    const value = run(frame);
    if (typeof value === 'number') return -value;
    if (typeof value === 'bigint') return checkedInt(-value, frame);
    throw frame.fault(`"-" does not take ${typeOf(value)}`);
  };
}

const orderedTypes: readonly Type[] = [bool, int, uint, double, string, bytes, timestamp, duration];
const numbers: ReadonlySet<Type> = new Set([int, uint, double]);

export function compileComparison<Subject>(
  node: Extract<Node, { readonly kind: 'compare' }>,
  scope: Scope<Subject>,
): Part<Subject> {
  const { operator } = node;
  const [left, right] = [scope.compile(node.left, scope), scope.compile(node.right, scope)];
  const facts = { units: left.units + right.units + 1, mayFail: left.mayFail || right.mayFail };
  if (operator === '==' || operator === '!=') {
    if (!fits(left.type, right.type))
      throw new ExpressionFault(
        node.at,
        `a ${left.type.name} never equals a ${right.type.name}${remedyFor(left.type, right.type)}`,
      );
    return part(bool, equality(left, right, operator === '=='), facts);
  }
  const areOrdered = orderedTypes.some((type) => fits(left.type, type)) && fits(left.type, right.type);
  const areNumbers = numbers.has(left.type) && numbers.has(right.type);
  if (!areOrdered && !areNumbers)
    throw new ExpressionFault(
      node.at,
      `"${operator}" does not compare a ${left.type.name} with a ${right.type.name}${remedyFor(left.type, right.type)}`,
    );
  return part(bool, comparison(operator, left.run, right.run), { ...facts, mayFail: true });
}

function comparison<Subject>(
  operator: keyof typeof orders,
  left: Run<Subject>,
  right: Run<Subject>,
): (frame: Parameters<Run<Subject>>[0]) => boolean {
  return (frame) => {
    const [one, other] = [left(frame), right(frame)];
    payForOrder(one, other, frame.budget.spend);
    const order = compareValues(one, other);
    if (order === undefined) throw frame.fault(`"${operator}" does not compare ${typeOf(one)} with ${typeOf(other)}`);
    return orders[operator](order);
  };
}

const orders: Readonly<Record<'<' | '<=' | '>' | '>=', (order: number) => boolean>> = {
  '<': (order) => order < 0,
  '<=': (order) => order <= 0,
  '>': (order) => order > 0,
  '>=': (order) => order >= 0,
};

function remedyFor(left: Type, right: Type): string {
  const [text, other] = left === string ? [left, right] : [right, left];
  if (text === string && numbers.has(other)) return `; convert the text with ${other.name}(…)`;
  if (text === string && other === timestamp) return '; convert the text with timestamp(…)';
  if (text === string && other.kind === 'list')
    return '; look for it in the list with "in", or take one item, as in [0]';
  return '';
}

function equality<Subject>(left: Part<Subject>, right: Part<Subject>, isEqual: boolean): Run<Subject> {
  const { constant } = right;
  if (left.type === string && typeof constant === 'string') return equalsText(left.run, constant, isEqual);
  return (left.type === string && right.type === string ? equalTexts : equalValues)(left.run, right.run, isEqual);
}

function equalsText<Subject>(run: Run<Subject>, text: string, isEqual: boolean): Run<Subject> {
  return isEqual ? (frame) => run(frame) === text : (frame) => run(frame) !== text;
}

function equalTexts<Subject>(left: Run<Subject>, right: Run<Subject>, isEqual: boolean): Run<Subject> {
  return (frame) => {
    const [one, other] = [left(frame), right(frame)];
    if (typeof one === 'string' && one.length > 64) frame.budget.spend(one.length / 64);
    return (one === other) === isEqual;
  };
}

function equalValues<Subject>(left: Run<Subject>, right: Run<Subject>, isEqual: boolean): Run<Subject> {
  return (frame) => equal(left(frame), right(frame), frame.budget.spend) === isEqual;
}

export function compileIn<Subject>(node: Extract<Node, { readonly kind: 'in' }>, scope: Scope<Subject>): Part<Subject> {
  const [left, right] = [scope.compile(node.left, scope), scope.compile(node.right, scope)];
  const { type } = right;
  const facts = { units: left.units + right.units + right.size, mayFail: left.mayFail || right.mayFail };
  if (type === string)
    throw new ExpressionFault(node.at, '"in" looks into lists and maps; into a text, .contains(…) does');
  if (type.kind !== 'any' && type.kind !== 'list' && type.kind !== 'map' && type.kind !== 'object')
    throw new ExpressionFault(node.right.at, `"in" is followed by a list or a map, and this is a ${type.name}`);
  const wanted = type.kind === 'list' ? type.item : type.kind === 'map' ? type.key : any;
  if (wanted !== undefined && !fits(left.type, wanted))
    throw new ExpressionFault(node.at, `a ${left.type.name} is never in a ${type.name}${remedyFor(left.type, wanted)}`);
  const constants = textsOf(right);
  if (constants !== undefined && left.type === string)
    return part(bool, amongTexts(left.run, constants), { ...facts, units: left.units + 2 });
  return part(bool, among(left.run, right.run), { ...facts, mayFail: facts.mayFail || !isSurely(type, list) });
}

function amongTexts<Subject>(run: Run<Subject>, texts: ReadonlySet<Value>): Run<Subject> {
  return (frame) => texts.has(run(frame));
}

function among<Subject>(left: Run<Subject>, right: Run<Subject>): Run<Subject> {
  return (frame) => {
    const [value, all] = [left(frame), right(frame)];
    if (all instanceof CelMap) return all.get(value) !== undefined;
    const items = asList(all);
    if (items === undefined) throw frame.fault('"in" is followed by something that is no list or map');
    // Comparing a value with one of another kind takes as long as one of these.
    frame.budget.spend(items.length * 2);
    return items.some((item) => equal(value, item, frame.budget.spend));
  };
}

function textsOf({ constant }: Part<never> | { readonly constant: Value | undefined }): ReadonlySet<Value> | undefined {
  const items = constant === undefined ? undefined : asList(constant);
  return items?.every((item) => typeof item === 'string') === true ? new Set(items) : undefined;
}
