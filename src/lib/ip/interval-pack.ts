import type { Steps } from '../steps.ts';
import type { CidrColumns } from './cidr-columns.ts';
import { indexIntervals } from './interval-index.ts';
import type { Intervals } from './interval-index.ts';
import type { IntervalTable } from './interval-table.ts';

/** Ranges that are swept in one step. */
const rowsInStep = 4_096;

/** Undefined where there are no ranges, or none has flags. The ranges must not change between the steps. */
export function* packIntervals(ranges: CidrColumns): Steps<IntervalTable | undefined> {
  if (ranges.count === 0) return undefined;
  const sweep = new Sweep(ranges);
  for (let row = 0; row < ranges.count; row++) {
    sweep.open(row);
    if (row % rowsInStep === 0) yield;
  }
  const intervals = sweep.finish();
  return intervals.flags.length === 0 ? undefined : yield* indexIntervals(intervals);
}

/** Ranges that contain each other have different mask lengths, 0 to 128. */
const maxDepth = 129;

/** Walks ranges in their order and emits the places where the union of the flags around the place changes. */
class Sweep {
  readonly #ranges: CidrColumns;
  readonly #starts: Uint32Array;
  readonly #flags: Uint8Array;
  #count = 0;
  /** The number of ranges around the current place. */
  #depth = 0;
  /** Rows of the intervals that are open, outermost first. */
  readonly #open = new Uint32Array(maxDepth);
  /** The flags outside, then the union of flags down to each of them. */
  readonly #unions = new Uint8Array(maxDepth + 1);
  /** Scratch memory for the end of a range that is closed. */
  readonly #end: Uint32Array;

  constructor(ranges: CidrColumns) {
    this.#ranges = ranges;
    this.#starts = new Uint32Array(ranges.count * ranges.width * 2);
    this.#flags = new Uint8Array(ranges.count * 2);
    this.#end = new Uint32Array(ranges.width);
  }

  open(row: number): void {
    const { words, flags, width } = this.#ranges;
    while (this.#depth > 0 && !this.#ranges.contains(this.#open[this.#depth - 1]!, row)) this.#close();
    const union = this.#unions[this.#depth]! | flags[row]!;
    this.#open[this.#depth++] = row;
    this.#unions[this.#depth] = union;
    this.#emit(words, row * width, union);
  }

  finish(): Intervals {
    while (this.#depth > 0) this.#close();
    const { width } = this.#ranges;
    return {
      width,
      starts: this.#starts.subarray(0, this.#count * width),
      flags: this.#flags.subarray(0, this.#count),
    };
  }

  #close(): void {
    const row = this.#open[--this.#depth]!;
    if (this.#ranges.findEnd(row, this.#end)) this.#emit(this.#end, 0, this.#unions[this.#depth]!);
  }

  /** A second one for the same place replaces the first; one that changes nothing is not kept. */
  #emit(words: Uint32Array, at: number, flags: number): void {
    const { width } = this.#ranges;
    const starts = this.#starts;
    let count = this.#count;
    if (count > 0 && isSame(starts, (count - 1) * width, words, at, width)) count -= 1;
    if (flags !== (count === 0 ? 0 : this.#flags[count - 1])) {
      for (let word = 0; word < width; word++) starts[count * width + word] = words[at + word]!;
      this.#flags[count++] = flags;
    }
    this.#count = count;
  }
}

function isSame(left: Uint32Array, leftAt: number, right: Uint32Array, rightAt: number, width: number): boolean {
  // The last words differ most often.
  for (let word = width - 1; word >= 0; word--) if (left[leftAt + word] !== right[rightAt + word]) return false;
  return true;
}
