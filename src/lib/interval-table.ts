/**
 * Disjoint intervals in ascending order, each from its start to the next one's; before the first the flags are 0. Plain
 * data, so that it can be cloned to another thread as it is. Indexes below are in range by construction, hence the `!`.
 */
export interface IntervalTable {
  /** Words of a start: the first 1, 2 or 4 words of an address. */
  readonly width: number;
  readonly starts: Uint32Array;
  readonly flags: Uint8Array;
  /** How many leading bits all starts share. */
  readonly sharedBits: number;
  /** How many bits after the shared ones choose a bucket; 0: there is no index. */
  readonly indexBits: number;
  /** How many starts lie in the buckets before this one. */
  readonly index: Uint32Array;
}

const smallestIndexed = 64;
const maxIndexBits = 16;
const noIndex = { sharedBits: 0, indexBits: 0, index: new Uint32Array(0) };

/** The index takes at most 2 bytes a start, so that it never outweighs what it points into. */
export function withIndex(width: number, starts: Uint32Array, flags: Uint8Array): IntervalTable {
  const count = flags.length;
  if (count < smallestIndexed) return { width, starts, flags, ...noIndex };
  const sharedBits = countSharedBits(starts, width, (count - 1) * width);
  const indexBits = Math.min(maxIndexBits, 30 - Math.clz32(count), width * 32 - sharedBits);
  const index = new Uint32Array(2 ** indexBits + 1);
  for (let at = 0; at < count; at++) index[bucketOf(starts, at * width, sharedBits, indexBits) + 1]!++;
  for (let bucket = 1; bucket < index.length; bucket++) index[bucket]! += index[bucket - 1]!;
  return { width, starts, flags, sharedBits, indexBits, index };
}

/** The flags of the interval in which the address lies. */
export function flagsAt(table: IntervalTable, words: readonly number[]): number {
  if (table.width > 1) return flagsAtWide(table, words);
  const { starts, flags } = table;
  const last = flags.length - 1;
  const key = words[0]!;
  if (key < starts[0]!) return 0;
  if (key >= starts[last]!) return flags[last]!;
  let low = 0;
  let high = last;
  if (table.indexBits > 0) {
    const bucket = (key << table.sharedBits) >>> (32 - table.indexBits);
    low = table.index[bucket]!;
    high = table.index[bucket + 1]!;
  }
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (starts[middle]! <= key) low = middle + 1;
    else high = middle;
  }
  return flags[low - 1]!;
}

function flagsAtWide(table: IntervalTable, words: readonly number[]): number {
  const { starts, flags, width } = table;
  const last = flags.length - 1;
  if (isBefore(words, starts, 0, width)) return 0;
  if (!isBefore(words, starts, last * width, width)) return flags[last]!;
  let low = 0;
  let high = last;
  if (table.indexBits > 0) {
    const bucket = bucketOf(words, 0, table.sharedBits, table.indexBits);
    low = table.index[bucket]!;
    high = table.index[bucket + 1]!;
  }
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(words, starts, middle * width, width)) high = middle;
    else low = middle + 1;
  }
  return flags[low - 1]!;
}

function isBefore(words: readonly number[], starts: Uint32Array, at: number, width: number): boolean {
  for (let word = 0; word < width; word++) {
    const left = words[word]!;
    const right = starts[at + word]!;
    if (left !== right) return left < right;
  }
  return false;
}

/** The bucket bits may straddle two words. */
function bucketOf(words: ArrayLike<number>, at: number, sharedBits: number, indexBits: number): number {
  const from = at + (sharedBits >>> 5);
  const shift = sharedBits & 31;
  let window = words[from]! << shift;
  if (shift + indexBits > 32) window |= words[from + 1]! >>> (32 - shift);
  return window >>> (32 - indexBits);
}

/** Of the first and the last start, and so of all. */
function countSharedBits(starts: Uint32Array, width: number, last: number): number {
  for (let word = 0; word < width; word++) {
    const difference = starts[word]! ^ starts[last + word]!;
    if (difference !== 0) return word * 32 + Math.clz32(difference);
  }
  return width * 32;
}
