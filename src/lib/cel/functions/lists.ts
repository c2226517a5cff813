import type { Work } from '../environment.ts';
import { sortValues } from '../macros.ts';
import { checkItems, checkText } from '../operators.ts';
import { mostItems } from '../run.ts';
import { bytes, int, list, listOf, map, string, typeOf } from '../types.ts';
import type { Type } from '../types.ts';
import { asList, CelMap, Duration, equal, keyOf, Timestamp, TypeName, Uint } from '../values.ts';
import type { Value } from '../values.ts';
import { both, method, plainFunction } from './define.ts';
import type { Definition } from './define.ts';
import { countPoints } from './points.ts';
import { formatDuration, formatTimestamp, unitsOfTime } from './time-text.ts';

const sameList = ([given = list]: readonly Type[]): Type => (given.kind === 'list' ? given : list);
const size = { isTotal: true } as const;
const keepsSize = { size: ([items = 0]: readonly number[]) => items };

function join(items: readonly Value[], separator: string, work: Work<unknown>): string {
  work.budget.spend(items.length);
  const texts = items.map((item) => {
    if (typeof item !== 'string') throw work.fault(`join() takes texts, and there is a ${typeOf(item)}`);
    return item;
  });
  checkText(
    texts.reduce((sum, text) => sum + text.length + separator.length, 0),
    work,
  );
  checkItems(items.length, work);
  return texts.join(separator);
}

function flatten(items: readonly Value[], depth: number, work: Work<unknown>): readonly Value[] {
  const flat: Value[] = [];
  const add = (given: readonly Value[], left: number): void => {
    work.budget.spend(given.length / 4 + 1);
    for (const item of given) {
      const inner = left > 0 ? asList(item) : undefined;
      if (inner === undefined) flat.push(item);
      else add(inner, left - 1);
    }
    if (flat.length > mostItems) checkItems(flat.length, work);
  };
  add(items, depth);
  return flat;
}

function distinct(items: readonly Value[], work: Work<unknown>): readonly Value[] {
  const plain = new Set<Value>();
  const others: Value[] = [];
  return items.filter((item) => {
    work.budget.spend(4);
    // What is not a number equals nothing, not even itself.
    const key =
      item === null || (typeof item === 'number' && !Number.isNaN(item)) ? (keyOf(item) ?? item) : keyOf(item);
    if (key !== undefined) {
      if (plain.has(key)) return false;
      plain.add(key);
      return true;
    }
    work.budget.spend(others.length * 2);
    if (others.some((other) => equal(other, item, work.budget.spend))) return false;
    others.push(item);
    return true;
  });
}

function sliceOf(items: readonly Value[], from: bigint, to: bigint, work: Work<unknown>): readonly Value[] {
  if (from < 0n || to > BigInt(items.length) || from > to)
    throw work.fault(`there is no part from ${from} to ${to} of a list of ${items.length} items (index out of range)`);
  checkItems(Number(to - from), work);
  return items.slice(Number(from), Number(to));
}

function range(count: bigint, work: Work<unknown>): readonly Value[] {
  if (count < 0n || count > BigInt(mostItems)) throw work.fault(`a list cannot have ${count} items`);
  checkItems(Number(count), work);
  return Array.from({ length: Number(count) }, (_, at) => BigInt(at));
}

/** Levels of lists and maps inside each other that are read or written. */
const mostLevels = 64;

/** A value as JSON would hold it. */
export function toJson(value: Value, work: Work<unknown>, level = 0): unknown {
  work.budget.spend(1);
  if (level > mostLevels) throw work.fault(`the value is nested deeper than ${mostLevels} levels`);
  if (value instanceof CelMap) {
    work.budget.spend(16 + value.size * 4);
    // Entries, not assignments: a key may be __proto__.
    return Object.fromEntries(
      Array.from(value.entries(), ([key, each]) => [keyText(key), toJson(each, work, level + 1)]),
    );
  }
  const items = asList(value);
  if (items !== undefined) return items.map((item) => toJson(item, work, level + 1));
  if (typeof value === 'bigint') return jsonInteger(value);
  if (value instanceof Uint) return jsonInteger(value.value);
  if (value instanceof Uint8Array) {
    work.budget.spend(value.length / 16);
    return Buffer.from(value).toString('base64');
  }
  if (typeof value === 'string') {
    work.budget.spend(value.length / 64);
    return value;
  }
  if (value instanceof Timestamp || value instanceof Duration) {
    work.budget.spend(unitsOfTime);
    return value instanceof Timestamp ? formatTimestamp(value) : formatDuration(value);
  }
  if (value instanceof TypeName) return value.name;
  return value;
}

function keyText(key: Value): string {
  if (typeof key === 'string') return key;
  return key instanceof Uint ? `${key.value}` : typeof key === 'bigint' ? `${key}` : JSON.stringify(key);
}

/** Larger ones lose their last digits in most readers of JSON. */
function jsonInteger(value: bigint): number | string {
  return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
}

/** A value that has been read from JSON. */
export function fromJson(value: unknown, work: Work<unknown>, level = 0): Value {
  work.budget.spend(4);
  if (level > mostLevels) throw work.fault(`the JSON is nested deeper than ${mostLevels} levels`);
  if (value === null || typeof value === 'string' || typeof value === 'boolean' || typeof value === 'number')
    return value;
  if (Array.isArray(value)) return value.map((item) => fromJson(item, work, level + 1));
  if (typeof value !== 'object') return null;
  return new CelMap(Object.entries(value).map(([key, each]) => [key, fromJson(each, work, level + 1)] as const));
}

export const listFunctions: readonly Definition[] = [
  ...both(
    'size',
    'size',
    [string],
    int,
    ([text], work) => {
      if (text.length > 16) work.budget.spend(text.length / 8);
      return BigInt(countPoints(text));
    },
    size,
  ),
  ...both('size', 'size', [bytes], int, ([given]) => BigInt(given.length), size),
  ...both('size', 'size', [list], int, ([items]) => BigInt(items.length), size),
  ...both('size', 'size', [map], int, ([given]) => BigInt(given.size), size),
  method('join', [listOf(string)], string, ([items], work) => join(items, '', work)),
  method('join', [listOf(string), string], string, ([items, separator], work) => join(items, separator, work)),
  method('slice', [list, int, int], sameList, ([items, from, to], work) => sliceOf(items, from, to, work), keepsSize),
  method('flatten', [list], list, ([items], work) => flatten(items, 1, work), keepsSize),
  method(
    'flatten',
    [list, int],
    list,
    ([items, depth], work) => {
      if (depth < 0n) throw work.fault('flatten() takes a level of 0 or more');
      return flatten(items, Math.min(Number(depth), mostLevels), work);
    },
    keepsSize,
  ),
  method(
    'sort',
    [list],
    sameList,
    ([items], work) =>
      sortValues(
        items.map((key) => ({ key })),
        work,
      ).map(({ key }) => key),
    keepsSize,
  ),
  method('distinct', [list], sameList, ([items], work) => distinct(items, work), keepsSize),
  method(
    'reverse',
    [list],
    sameList,
    ([items], work) => {
      checkItems(items.length, work);
      return items.toReversed();
    },
    keepsSize,
  ),
  plainFunction('lists.range', [int], listOf(int), ([count], work) => range(count, work), {
    size: (_, [count]) => (typeof count === 'bigint' ? Number(count) : 16),
  }),
];
