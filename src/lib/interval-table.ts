/**
 * Disjoint intervals in ascending order, each from its start to the next one's; before the first the flags are 0. Plain
 * data, so that it can be cloned to another thread as it is. Indexes below are in range by construction, hence the `!`.
 */
export interface IntervalTable {
  /** Words of a start: the first 1, 2 or 4 words of an address. */
  readonly width: number;
  /** The first start, then the last one. */
  readonly bounds: Uint32Array;
  /** How many leading bits all starts share, and how many after them choose the bucket: together at least 8. */
  readonly sharedBits: number;
  readonly indexBits: number;
  /** How many starts lie in the buckets before this one. */
  readonly index: Uint8Array | Uint16Array | Uint32Array;
  /**
   * Starts shifted left by 8 bits, with the flags in the room made. The bucket knows the bits lost, and a lookup in a
   * large table waits for memory, so it matters that the flags come with the start.
   */
  readonly rows: Uint32Array;
}

const flagBits = 8;
const maxIndexBits = 16;

/** Scratch of `flagsAtWide`, which never yields: the address as a row. */
const wanted = new Uint32Array(4);

export function indexIntervals(width: number, starts: Uint32Array, flags: Uint8Array): IntervalTable {
  const count = flags.length;
  const last = (count - 1) * width;
  const bounds = Uint32Array.of(...starts.subarray(0, width), ...starts.subarray(last));
  const sharedBits = Math.min(countSharedBits(bounds, width), width * 32 - flagBits);
  // At most one bucket for two starts, so that the index never outweighs the rows.
  const usefulBits = Math.min(maxIndexBits, 30 - Math.clz32(count), width * 32 - sharedBits);
  const indexBits = Math.max(usefulBits, flagBits - sharedBits, 1);
  const index = newIndex(count, 2 ** indexBits + 1);
  for (let at = 0; at < count; at++) index[bucketOf(starts, at * width, sharedBits, indexBits) + 1]!++;
  for (let bucket = 1; bucket < index.length; bucket++) index[bucket]! += index[bucket - 1]!;
  const rows = new Uint32Array(starts.length);
  for (let at = 0; at < count; at++) writeRow(starts, at * width, width, flags[at]!, rows, at * width);
  return { width, bounds, sharedBits, indexBits, index, rows };
}

/** The flags of the interval in which the address lies. */
export function flagsAt(table: IntervalTable, words: readonly number[]): number {
  if (table.width > 1) return flagsAtWide(table, words);
  const { bounds, index, indexBits, rows } = table;
  const key = words[0]!;
  if (key < bounds[0]!) return 0;
  if (key >= bounds[1]!) return rows[rows.length - 1]! & 255;
  const bucket = (key << table.sharedBits) >>> (32 - indexBits);
  const row = ((key << flagBits) | 255) >>> 0;
  let low = index[bucket]!;
  let high = index[bucket + 1]!;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]! <= row) low = middle + 1;
    else high = middle;
  }
  return rows[low - 1]! & 255;
}

function flagsAtWide(table: IntervalTable, words: readonly number[]): number {
  const { width, bounds, index, rows } = table;
  if (isBefore(words, bounds, 0, width)) return 0;
  if (!isBefore(words, bounds, width, width)) return rows[rows.length - 1]! & 255;
  const bucket = bucketOf(words, 0, table.sharedBits, table.indexBits);
  writeRow(words, 0, width, 255, wanted, 0);
  let low = index[bucket]!;
  let high = index[bucket + 1]!;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(wanted, rows, middle * width, width)) high = middle;
    else low = middle + 1;
  }
  return rows[low * width - 1]! & 255;
}

function isBefore(words: ArrayLike<number>, starts: Uint32Array, at: number, width: number): boolean {
  for (let word = 0; word < width; word++) {
    const left = words[word]!;
    const right = starts[at + word]!;
    if (left !== right) return left < right;
  }
  return false;
}

function writeRow(
  words: ArrayLike<number>,
  from: number,
  width: number,
  flags: number,
  rows: Uint32Array,
  to: number,
): void {
  const last = width - 1;
  for (let word = 0; word < last; word++)
    rows[to + word] = (words[from + word]! << flagBits) | (words[from + word + 1]! >>> (32 - flagBits));
  rows[to + last] = (words[from + last]! << flagBits) | flags;
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
function countSharedBits(bounds: Uint32Array, width: number): number {
  for (let word = 0; word < width; word++) {
    const difference = bounds[word]! ^ bounds[width + word]!;
    if (difference !== 0) return word * 32 + Math.clz32(difference);
  }
  return width * 32;
}

function newIndex(maxEntry: number, length: number): IntervalTable['index'] {
  if (maxEntry < 2 ** 8) return new Uint8Array(length);
  return maxEntry < 2 ** 16 ? new Uint16Array(length) : new Uint32Array(length);
}
