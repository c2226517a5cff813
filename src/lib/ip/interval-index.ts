import { bitsAt, writeRow } from './interval-table.ts';
import type { IntervalTable } from './interval-table.ts';

/** Where the flags change, in ascending order, and what they are from there on. */
export interface Intervals {
  /** Words of a start. */
  readonly width: number;
  readonly starts: Uint32Array;
  readonly flags: Uint8Array;
}

/** An index of 64 KB stays in the processor's cache beside all else that a server does. */
const usualIndexBits = 14;
/** Where that makes the rows shorter. */
const maxIndexBits = 16;
const elementBits = 16;

export function indexIntervals(intervals: Intervals): IntervalTable {
  const { width, starts, flags } = intervals;
  const bounds = Uint32Array.of(...starts.subarray(0, width), ...starts.subarray(-width));
  const usedBits = Math.max(2, countUsedBits(starts, width));
  const sharedBits = Math.min(countSharedBits(bounds, width), usedBits - 2);
  const flagBits = countFlagBits(flags);
  const alone = findAlone(intervals, usedBits);
  const { indexBits, elements } = chooseSizes(alone.rowCount, width, usedBits - sharedBits, flagBits + 1);
  const table = {
    width,
    bounds,
    lastFlags: flags[flags.length - 1]!,
    sharedBits,
    indexBits,
    usedBits,
    index: new Uint32Array(2 ** indexBits + 1),
    rows: elements === 2 ? new Uint32Array(alone.rowCount) : new Uint16Array(alone.rowCount * elements),
    rowLength: elements === 2 ? 1 : elements,
    flagBits,
  };
  fill(table, intervals, alone.marks);
  return table;
}

/**
 * Of two starts that lie next to each other, as near as any two can, a row for the first says enough if the flags are 0
 * from the second on. This halves a list of ranges that are all of one size, such as single addresses.
 */
function findAlone({ width, starts, flags }: Intervals, usedBits: number): { marks: Uint8Array; rowCount: number } {
  const last = (usedBits - 1) >>> 5;
  const distance = (1 << (-usedBits & 31)) >>> 0;
  const marks = new Uint8Array(flags.length);
  let rowCount = flags.length;
  for (let at = 0; at + 1 < flags.length; at++) {
    if (flags[at] === 0 || flags[at + 1] !== 0) continue;
    const word = at * width;
    if (starts[word + width + last]! - starts[word + last]! !== distance) continue;
    if (last > 0 && !isSameBefore(starts, word, word + width, last)) continue;
    marks[at] = 1;
    rowCount -= 1;
  }
  return { marks, rowCount };
}

function isSameBefore(starts: Uint32Array, one: number, other: number, length: number): boolean {
  for (let word = 0; word < length; word++) if (starts[one + word] !== starts[other + word]) return false;
  return true;
}

/** `bits`: of a start that are not shared; `tailBits`: what a row has behind them. */
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

function fill(table: IntervalTable, { width, starts, flags }: Intervals, alone: Uint8Array): void {
  const { sharedBits, indexBits, index, rows, rowLength, flagBits } = table;
  const shift = 32 - rows.BYTES_PER_ELEMENT * 8;
  const start = new Uint32Array(6);
  let row = 0;
  for (let at = 0; at < flags.length; at += 1 + alone[at]!) {
    for (let word = 0; word < width; word++) start[word] = starts[at * width + word]!;
    index[(bitsAt(start, sharedBits) >>> (32 - indexBits)) + 1]!++;
    const tail = (alone[at]! << flagBits) | flags[at]!;
    if (rowLength === 1) rows[row++] = (bitsAt(start, sharedBits + indexBits) >>> shift) | tail;
    else writeRow(start, table, tail, rows, row++ * rowLength);
  }
  for (let bucket = 1; bucket < index.length; bucket++) index[bucket]! += index[bucket - 1]!;
}

function countFlagBits(flags: Uint8Array): number {
  let union = 1;
  for (let at = 0; at < flags.length; at++) union |= flags[at]!;
  return 32 - Math.clz32(union);
}

/** Where the last bit ends that is set in any start. */
function countUsedBits(starts: Uint32Array, width: number): number {
  for (let word = width - 1; word >= 0; word--) {
    let union = 0;
    for (let at = word; at < starts.length; at += width) union |= starts[at]!;
    if (union !== 0) return word * 32 + 1 + Math.clz32(union & -union);
  }
  return 0;
}

/** Of the first and the last start, and so of all. */
function countSharedBits(bounds: Uint32Array, width: number): number {
  for (let word = 0; word < width; word++) {
    const difference = bounds[word]! ^ bounds[width + word]!;
    if (difference !== 0) return word * 32 + Math.clz32(difference);
  }
  return width * 32;
}
