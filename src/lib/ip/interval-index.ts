import type { Steps } from '../steps.ts';
import { bitsAt, writeRow } from './interval-table.ts';
import type { IntervalTable } from './interval-table.ts';

/** The places where the flags change, in ascending order, and the flags from each of them on. */
export interface Intervals {
  /** Words in a start. */
  readonly width: number;
  readonly starts: Uint32Array;
  readonly flags: Uint8Array;
}

/** An index of 64 KB stays in the processor's cache beside all else that a server does. */
const usualIndexBits = 14;
/** A larger index is taken where it makes the rows shorter. */
const maxIndexBits = 16;
const elementBits = 16;
/** Rows that are written in one step. */
const rowsInStep = 4_096;

/** `README.md` has a drawing of a row, and says how these sizes are used. */
export function* indexIntervals(intervals: Intervals): Steps<IntervalTable> {
  const { width, starts, flags } = intervals;
  const bounds = Uint32Array.of(...starts.subarray(0, width), ...starts.subarray(-width));
  const usedBits = Math.max(2, countUsedBits(starts, width));
  const sharedBits = Math.min(countSharedBits(bounds, width), usedBits - 2);
  const flagBits = countFlagBits(flags);
  yield;
  const { isSingleUnit, rowCount } = findSingleUnits(intervals, usedBits);
  yield;
  const { indexBits, elements } = chooseSizes(rowCount, width, usedBits - sharedBits, flagBits + 1);
  const table = {
    width,
    bounds,
    lastFlags: flags[flags.length - 1]!,
    sharedBits,
    indexBits,
    usedBits,
    index: new Uint32Array(2 ** indexBits + 1),
    rows: elements === 2 ? new Uint32Array(rowCount) : new Uint16Array(rowCount * elements),
    rowLength: elements === 2 ? 1 : elements,
    flagBits,
  };
  yield* fill(table, intervals, isSingleUnit);
  return table;
}

/**
 * Finds intervals that are one unit long, the smallest distance between any two starts, and are followed by flags 0. One
 * row says all about such an interval, and the row of its end is left out. This halves a list of ranges that are all of
 * one size, such as single addresses.
 */
function findSingleUnits(
  { width, starts, flags }: Intervals,
  usedBits: number,
): { readonly isSingleUnit: Uint8Array; readonly rowCount: number } {
  const last = (usedBits - 1) >>> 5;
  const unit = (1 << (-usedBits & 31)) >>> 0;
  const isSingleUnit = new Uint8Array(flags.length);
  let rowCount = flags.length;
  for (let at = 0; at + 1 < flags.length; at++) {
    if (flags[at] === 0 || flags[at + 1] !== 0) continue;
    const word = at * width;
    if (starts[word + width + last]! - starts[word + last]! !== unit) continue;
    if (last > 0 && !isSameBefore(starts, word, word + width, last)) continue;
    isSingleUnit[at] = 1;
    rowCount -= 1;
  }
  return { isSingleUnit, rowCount };
}

function isSameBefore(starts: Uint32Array, one: number, other: number, length: number): boolean {
  for (let word = 0; word < length; word++) if (starts[one + word] !== starts[other + word]) return false;
  return true;
}

/** `bits` counts the bits of a start that are not shared, `tailBits` those that a row has behind them. */
function chooseSizes(
  count: number,
  width: number,
  bits: number,
  tailBits: number,
): { readonly indexBits: number; readonly elements: number } {
  // A row of IPv4 is one number, whatever index that takes.
  const least = width === 1 ? Math.max(1, bits + tailBits - 32) : 1;
  // At most one bucket for two rows, so that the index never outweighs the rows.
  const most = Math.min(30 - Math.clz32(count), bits - 1);
  const clamp = (wanted: number): number => Math.max(least, Math.min(wanted, most));
  const elements = Math.max(1, Math.ceil((bits + tailBits - clamp(maxIndexBits)) / elementBits));
  return { indexBits: clamp(Math.max(usualIndexBits, bits + tailBits - elements * elementBits)), elements };
}

function* fill(table: IntervalTable, { width, starts, flags }: Intervals, isSingleUnit: Uint8Array): Steps<void> {
  const { sharedBits, indexBits, index, rows, rowLength, flagBits } = table;
  const shift = 32 - rows.BYTES_PER_ELEMENT * 8;
  const start = new Uint32Array(6);
  let row = 0;
  for (let at = 0; at < flags.length; at += 1 + isSingleUnit[at]!) {
    for (let word = 0; word < width; word++) start[word] = starts[at * width + word]!;
    index[(bitsAt(start, sharedBits) >>> (32 - indexBits)) + 1]!++;
    const tail = (isSingleUnit[at]! << flagBits) | flags[at]!;
    if (rowLength === 1) rows[row++] = (bitsAt(start, sharedBits + indexBits) >>> shift) | tail;
    else writeRow(start, table, tail, rows, row++ * rowLength);
    if (row % rowsInStep === 0) yield;
  }
  for (let bucket = 1; bucket < index.length; bucket++) index[bucket]! += index[bucket - 1]!;
}

function countFlagBits(flags: Uint8Array): number {
  let union = 1;
  for (let at = 0; at < flags.length; at++) union |= flags[at]!;
  return 32 - Math.clz32(union);
}

/** The number of leading bits after which no start has a bit set. */
function countUsedBits(starts: Uint32Array, width: number): number {
  for (let word = width - 1; word >= 0; word--) {
    let union = 0;
    for (let at = word; at < starts.length; at += width) union |= starts[at]!;
    if (union !== 0) return word * 32 + 1 + Math.clz32(union & -union);
  }
  return 0;
}

/** The leading bits that the first and the last start share, and so all between them. */
function countSharedBits(bounds: Uint32Array, width: number): number {
  for (let word = 0; word < width; word++) {
    const difference = bounds[word]! ^ bounds[width + word]!;
    if (difference !== 0) return word * 32 + Math.clz32(difference);
  }
  return width * 32;
}
