/** A value of an expression. `int` is a bigint, `double` a number. */
export type Value =
  | null
  | boolean
  | bigint
  | number
  | string
  | Uint8Array
  | Uint
  | Timestamp
  | Duration
  | TypeName
  | CelMap
  | readonly Value[];

/** An unsigned integer, which is another type than an integer of the same value. */
export class Uint {
  readonly value: bigint;

  constructor(value: bigint) {
    this.value = value;
  }
}

/** A point in time, in nanoseconds since 1970. */
export class Timestamp {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** A length of time, in nanoseconds. */
export class Duration {
  readonly nanos: bigint;

  constructor(nanos: bigint) {
    this.nanos = nanos;
  }
}

/** What `type()` returns. */
export class TypeName {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }
}

type Key = string | bigint | boolean;

/** A map. A number finds the entry of an equal number of another type. */
export class CelMap {
  readonly #entries = new Map<Key, readonly [key: Value, value: Value]>();
  readonly #ignoresCase: boolean;
  /** Length of the longest name that is looked up without regard to case: none that is longer is there. */
  #longest = 0;
  /** What a key has that is not there; undefined: that is an error. */
  readonly #absent: Value | undefined;

  /** `ignoresCase`: names are looked up without regard to case; those among the entries are in lower case. */
  constructor(
    entries: Iterable<readonly [Value, Value]>,
    { ignoresCase = false, absent }: { readonly ignoresCase?: boolean; readonly absent?: Value } = {},
  ) {
    this.#ignoresCase = ignoresCase;
    this.#absent = absent;
    for (const entry of entries) {
      const key = keyOf(entry[0]);
      if (key === undefined) continue;
      this.#entries.set(key, entry);
      if (ignoresCase && typeof key === 'string') this.#longest = Math.max(this.#longest, key.length);
    }
  }

  static of(entries: Readonly<Record<string, Value>>): CelMap {
    return new CelMap(Object.entries(entries));
  }

  get(key: Value): Value | undefined {
    const plain = keyOf(key);
    if (plain === undefined) return undefined;
    if (this.#ignoresCase && typeof plain === 'string' && plain.length > this.#longest) return undefined;
    const found = this.#entries.get(plain);
    if (found !== undefined) return found[1];
    return this.#ignoresCase && typeof plain === 'string' ? this.#entries.get(plain.toLowerCase())?.[1] : undefined;
  }

  /** The same where something is expected. */
  find(key: Value): Value | undefined {
    const value = this.get(key);
    return value === undefined ? this.#absent : value;
  }

  get size(): number {
    return this.#entries.size;
  }

  keys(): readonly Value[] {
    return Array.from(this.#entries.values(), ([key]) => key);
  }

  entries(): IterableIterator<readonly [Value, Value]> {
    return this.#entries.values();
  }
}

/** What equal keys have in common; undefined: no map can have it as a key. */
export function keyOf(key: Value): Key | undefined {
  if (typeof key === 'string' || typeof key === 'bigint' || typeof key === 'boolean') return key;
  if (key instanceof Uint) return key.value;
  return typeof key === 'number' && Number.isInteger(key) ? BigInt(key) : undefined;
}

/** The list, where a value is one. */
export function asList(value: Value): readonly Value[] | undefined {
  // The type of `isArray` forgets lists that cannot be written to.
  return Array.isArray(value) ? (value as readonly Value[]) : undefined;
}

export function isNumeric(value: Value): value is bigint | number | Uint {
  return typeof value === 'bigint' || typeof value === 'number' || value instanceof Uint;
}

/** Less than 0, 0, or more: the order of two numbers of any type. `NaN` where one is no number. */
function compareNumbers(left: bigint | number | Uint, right: bigint | number | Uint): number {
  const [one, other] = [left instanceof Uint ? left.value : left, right instanceof Uint ? right.value : right];
  // An integer is compared with a double as the double next to it.
  return typeof one === typeof other ? order(one, other) : order(Number(one), Number(other));
}

function order(one: bigint | number, other: bigint | number): number {
  if (one === other) return 0;
  if (one < other) return -1;
  return one > other ? 1 : Number.NaN;
}

/** Pays for finding the order of two values: texts are looked at character by character. */
export function payForOrder(left: Value, right: Value, spend: Spend): void {
  if (typeof left === 'string' && typeof right === 'string') {
    const length = Math.min(left.length, right.length);
    if (length > 16) spend(length / 8);
  } else if (left instanceof Uint8Array && right instanceof Uint8Array) spend(Math.min(left.length, right.length) / 64);
}

/** The order of two values of types that have one; undefined for others. */
export function compareValues(left: Value, right: Value): number | undefined {
  if (isNumeric(left) && isNumeric(right)) return compareNumbers(left, right);
  if (typeof left === 'string' && typeof right === 'string') return compareTexts(left, right);
  if (typeof left === 'boolean' && typeof right === 'boolean') return Number(left) - Number(right);
  if (left instanceof Timestamp && right instanceof Timestamp) return compareNumbers(left.nanos, right.nanos);
  if (left instanceof Duration && right instanceof Duration) return compareNumbers(left.nanos, right.nanos);
  if (left instanceof Uint8Array && right instanceof Uint8Array) return Buffer.compare(left, right);
  return undefined;
}

/** By code points: JavaScript compares halves of pairs, which puts 😀 before U+FFFD. */
function compareTexts(left: string, right: string): number {
  if (left === right) return 0;
  const length = Math.min(left.length, right.length);
  let at = 0;
  while (at < length && left.charCodeAt(at) === right.charCodeAt(at)) at++;
  const [one, other] = [left.charCodeAt(at), right.charCodeAt(at)];
  if (at === length) return left.length - right.length;
  const [isPair, isOtherPair] = [isSurrogate(one), isSurrogate(other)];
  return isPair === isOtherPair ? one - other : Number(isPair) - Number(isOtherPair);
}

function isSurrogate(code: number): boolean {
  return code >= 0xd8_00 && code <= 0xdf_ff;
}

/** Told of the work that a comparison takes. */
export type Spend = (units: number) => void;

/** Values of different types are different; numbers are compared by what they are. */
export function equal(left: Value, right: Value, spend: Spend): boolean {
  if (typeof left === 'string' && left.length > 64) spend(left.length / 64);
  if (left === right) return true;
  const list = asList(left);
  if (list !== undefined) {
    const other = asList(right);
    if (other?.length !== list.length) return false;
    spend(list.length);
    return list.every((item, at) => equal(item, other[at] ?? null, spend));
  }
  if (left instanceof CelMap) return right instanceof CelMap && equalMaps(left, right, spend);
  if (left instanceof TypeName) return right instanceof TypeName && left.name === right.name;
  if (left instanceof Uint8Array) spend(left.length / 64);
  return compareValues(left, right) === 0;
}

function equalMaps(left: CelMap, right: CelMap, spend: Spend): boolean {
  if (left.size !== right.size) return false;
  spend(left.size);
  for (const [key, value] of left.entries()) {
    const other = right.get(key);
    if (other === undefined || !equal(value, other, spend)) return false;
  }
  return true;
}
