import type { Cidr } from './cidr.ts';
import { indexIntervals } from './interval-table.ts';
import type { IntervalTable } from './interval-table.ts';

export interface FlaggedCidr {
  readonly cidr: Cidr;
  /** 0 to 255. */
  readonly flags: number;
}

/** Rules in columns, so that a million of them sort in a fraction of a second. Indexes are in range, hence the `!`. */
interface Columns {
  readonly width: number;
  readonly words: Uint32Array;
  readonly prefixes: Uint8Array;
  readonly flags: Uint8Array;
}

/** Of ranges of one family, whose mask lengths fit into `width` words; undefined when they come to nothing. */
export function packIntervals(rules: readonly FlaggedCidr[], width: number): IntervalTable | undefined {
  if (rules.length === 0) return undefined;
  const columns = toColumns(rules, width);
  const sweep = new Sweep(columns);
  for (const row of sortRows(columns)) sweep.open(row);
  const { starts, flags } = sweep.finish();
  return flags.length === 0 ? undefined : indexIntervals(width, starts, flags);
}

function toColumns(rules: readonly FlaggedCidr[], width: number): Columns {
  const words = new Uint32Array(rules.length * width);
  const prefixes = new Uint8Array(rules.length);
  const flags = new Uint8Array(rules.length);
  for (const [row, rule] of rules.entries()) {
    for (let word = 0; word < width; word++) words[row * width + word] = rule.cidr.words[word]!;
    prefixes[row] = rule.cidr.prefix;
    flags[row] = rule.flags;
  }
  return { width, words, prefixes, flags };
}

/** Row numbers by address, then by mask length, so that a range comes before those inside it. A radix sort by bytes. */
function sortRows({ width, words, prefixes }: Columns): Uint32Array {
  let rows = new Uint32Array(prefixes.length).map((_, row) => row);
  let spare = new Uint32Array(rows.length);
  const sortBy = (values: Uint8Array | Uint32Array, stride: number, offset: number, shift: number): void => {
    const ends = new Uint32Array(256);
    for (let at = offset; at < values.length; at += stride) ends[(values[at]! >>> shift) & 255]!++;
    if (ends.includes(rows.length)) return;
    for (let byte = 1; byte < 256; byte++) ends[byte]! += ends[byte - 1]!;
    for (let at = rows.length - 1; at >= 0; at--) {
      const row = rows[at]!;
      spare[--ends[(values[row * stride + offset]! >>> shift) & 255]!] = row;
    }
    [rows, spare] = [spare, rows];
  };
  sortBy(prefixes, 1, 0, 0);
  for (let word = width - 1; word >= 0; word--)
    for (let shift = 0; shift < 32; shift += 8) sortBy(words, width, word, shift);
  return rows;
}

/** Walks ranges in the order of `sortRows` and notes where the union of the flags of those around it changes. */
class Sweep {
  readonly #rules: Columns;
  readonly #starts: Uint32Array;
  readonly #flags: Uint8Array;
  #count = 0;
  /** Rows of the ranges around the current place, outermost first. */
  readonly #open: number[] = [];
  /** The flags outside, then the union of flags down to each open range. */
  readonly #unions: number[] = [0];
  /** Where a closed range ends; scratch. */
  readonly #end: Uint32Array;

  constructor(rules: Columns) {
    this.#rules = rules;
    this.#starts = new Uint32Array(rules.words.length * 2);
    this.#flags = new Uint8Array(rules.flags.length * 2);
    this.#end = new Uint32Array(rules.width);
  }

  open(row: number): void {
    const { words, flags, width } = this.#rules;
    while (this.#open.length > 0 && !this.#contains(this.#open.at(-1)!, row)) this.#close();
    const union = this.#unions.at(-1)! | flags[row]!;
    this.#open.push(row);
    this.#unions.push(union);
    this.#note(words, row * width, union);
  }

  finish(): { starts: Uint32Array; flags: Uint8Array } {
    while (this.#open.length > 0) this.#close();
    return { starts: this.#starts.slice(0, this.#count * this.#rules.width), flags: this.#flags.slice(0, this.#count) };
  }

  #close(): void {
    const row = this.#open.pop()!;
    this.#unions.pop();
    if (this.#findEnd(row)) this.#note(this.#end, 0, this.#unions.at(-1)!);
  }

  /** Whether `inner`, which does not start before `outer`, starts inside it: ranges nest or are apart. */
  #contains(outer: number, inner: number): boolean {
    const { words, prefixes, width } = this.#rules;
    for (let word = 0, bits = prefixes[outer]!; bits > 0; word++, bits -= 32) {
      const difference = words[outer * width + word]! ^ words[inner * width + word]!;
      if (Math.clz32(difference) < Math.min(bits, 32)) return false;
    }
    return true;
  }

  /** Sets `#end` to the first address after the range; false if there is none. */
  #findEnd(row: number): boolean {
    const { words, prefixes, width } = this.#rules;
    const prefix = prefixes[row]!;
    for (let word = 0; word < width; word++) this.#end[word] = words[row * width + word]!;
    let step = 2 ** ((128 - prefix) % 32);
    for (let word = (prefix - 1) >> 5; word >= 0; word--) {
      const sum = this.#end[word]! + step;
      this.#end[word] = sum;
      if (sum < 2 ** 32) return true;
      step = 1;
    }
    return false;
  }

  /** A later note for the same place replaces the earlier one; one that changes nothing is not kept. */
  #note(words: Uint32Array, at: number, flags: number): void {
    const { width } = this.#rules;
    if (this.#count > 0 && this.#isLastStart(words, at)) this.#count--;
    if (flags === (this.#count === 0 ? 0 : this.#flags[this.#count - 1])) return;
    for (let word = 0; word < width; word++) this.#starts[this.#count * width + word] = words[at + word]!;
    this.#flags[this.#count++] = flags;
  }

  #isLastStart(words: Uint32Array, at: number): boolean {
    const { width } = this.#rules;
    const last = (this.#count - 1) * width;
    for (let word = 0; word < width; word++) if (this.#starts[last + word] !== words[at + word]) return false;
    return true;
  }
}
