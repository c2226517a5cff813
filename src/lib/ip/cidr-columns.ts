import type { Steps } from '../steps.ts';
import type { Cidr } from './cidr.ts';

/** Rows that are copied in one step. */
const rowsInStep = 8_192;
/** Rows that a pass of the sort goes through in one step. */
const rowsInPass = 16_384;

/**
 * CIDRs of one family with their flags, in columns: a few bytes each, and a million of them sort in a fraction of a
 * second. They are ordered by address, then by mask length, so that a range comes before those inside it. Indexes below
 * are in range by construction, hence the `!`.
 */
export class CidrColumns {
  /** Words that are kept of each address; the CIDRs have zeros in all others. */
  readonly width: number;
  count = 0;
  /** `width` words for each CIDR. This column and the others may have room for more than `count`. */
  words = new Uint32Array();
  prefixes = new Uint8Array();
  flags = new Uint8Array();

  constructor(width: number) {
    this.width = width;
  }

  /** Puts it last, out of order: `sort` has to follow. */
  append(cidr: Cidr, flags: number): void {
    this.#reserve(this.count + 1);
    this.#write(this.count++, cidr, flags);
  }

  /** Brings rows into order, and merges those of one CIDR. */
  *sortInSteps(): Steps<void> {
    if (this.count < 2) return;
    const rows = yield* this.rowsInOrder();
    const { width, words, prefixes, flags } = this;
    this.words = new Uint32Array(rows.length * width);
    this.prefixes = new Uint8Array(rows.length);
    this.flags = new Uint8Array(rows.length);
    this.count = 0;
    for (let at = 0; at < rows.length; at++) {
      const row = rows[at]!;
      const to = this.count;
      for (let word = 0; word < width; word++) this.words[to * width + word] = words[row * width + word]!;
      this.prefixes[to] = prefixes[row]!;
      if (to > 0 && this.#isSame(to - 1, to)) {
        this.flags[to - 1]! |= flags[row]!;
      } else {
        this.flags[to] = flags[row]!;
        this.count += 1;
      }
      if (at % rowsInStep === 0) yield;
    }
  }

  /** Adds the CIDR, or gives it other flags. */
  set(cidr: Cidr, flags: number): void {
    const at = this.#find(cidr);
    if (this.#compare(at, cidr) !== 0) {
      this.#reserve(this.count + 1);
      this.#move(at, at + 1);
    }
    this.#write(at, cidr, flags);
  }

  delete(cidr: Cidr): void {
    const at = this.#find(cidr);
    if (this.#compare(at, cidr) === 0) this.#move(at + 1, at);
  }

  /** Adds the rows of another list behind its own, out of order. */
  appendAll(other: CidrColumns): void {
    this.#reserve(this.count + other.count);
    this.words.set(other.words.subarray(0, other.count * this.width), this.count * this.width);
    this.prefixes.set(other.prefixes.subarray(0, other.count), this.count);
    this.flags.set(other.flags.subarray(0, other.count), this.count);
    this.count += other.count;
  }

  /** Row numbers in order, those of one CIDR by their flags: a radix sort by bytes. */
  *rowsInOrder(): Steps<Uint32Array> {
    const { count, width } = this;
    let rows = new Uint32Array(count);
    let spare = new Uint32Array(count);
    for (let row = 0; row < count; row++) {
      rows[row] = row;
      if (row % rowsInPass === rowsInPass - 1) yield;
    }
    function* sortBy(values: Uint8Array | Uint32Array, stride: number, offset: number, shift: number): Steps<void> {
      const ends = new Uint32Array(256);
      for (let row = 0; row < count; row++) {
        ends[(values[row * stride + offset]! >>> shift) & 255]!++;
        if (row % rowsInPass === rowsInPass - 1) yield;
      }
      if (ends.includes(count)) return;
      for (let byte = 1; byte < 256; byte++) ends[byte]! += ends[byte - 1]!;
      for (let at = count - 1; at >= 0; at--) {
        const row = rows[at]!;
        spare[--ends[(values[row * stride + offset]! >>> shift) & 255]!] = row;
        if (at % rowsInPass === 0) yield;
      }
      [rows, spare] = [spare, rows];
    }
    yield* sortBy(this.flags, 1, 0, 0);
    yield* sortBy(this.prefixes, 1, 0, 0);
    for (let word = width - 1; word >= 0; word--)
      for (let shift = 0; shift < 32; shift += 8) yield* sortBy(this.words, width, word, shift);
    return rows;
  }

  /** Whether `inner`, which does not start before `outer`, starts inside it: ranges nest or are apart. */
  contains(outer: number, inner: number): boolean {
    const { words, prefixes, width } = this;
    for (let word = 0, bits = prefixes[outer]!; bits > 0; word++, bits -= 32) {
      const difference = words[outer * width + word]! ^ words[inner * width + word]!;
      if (Math.clz32(difference) < Math.min(bits, 32)) return false;
    }
    return true;
  }

  /** Sets `end` to the first address after the range; false, and zeros, if there is none. */
  findEnd(row: number, end: Uint32Array): boolean {
    const { words, prefixes, width } = this;
    const prefix = prefixes[row]!;
    for (let word = 0; word < width; word++) end[word] = words[row * width + word]!;
    let step = (1 << (-prefix & 31)) >>> 0;
    for (let word = (prefix - 1) >> 5; word >= 0; word--) {
      const sum = end[word]! + step;
      end[word] = sum;
      if (sum < 2 ** 32) return true;
      step = 1;
    }
    return false;
  }

  #isSame(one: number, other: number): boolean {
    if (this.prefixes[one] !== this.prefixes[other]) return false;
    const { width, words } = this;
    for (let word = 0; word < width; word++)
      if (words[one * width + word] !== words[other * width + word]) return false;
    return true;
  }

  /** The row of the CIDR, or the one before which it belongs. */
  #find(cidr: Cidr): number {
    let low = 0;
    let high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#compare(middle, cidr) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Negative where the row comes before the CIDR, 0 where it is the same; behind the last row, positive. */
  #compare(row: number, { word0, word1, word2, word3, prefix }: Cidr): number {
    if (row === this.count) return 1;
    const { width, words } = this;
    const at = row * width;
    let difference = words[at]! - (word0 >>> 0);
    if (difference === 0 && width > 1) difference = words[at + 1]! - (word1 >>> 0);
    if (difference === 0 && width > 2) difference = words[at + 2]! - (word2 >>> 0);
    if (difference === 0 && width > 2) difference = words[at + 3]! - (word3 >>> 0);
    return difference === 0 ? this.prefixes[row]! - prefix : difference;
  }

  #write(row: number, { word0, word1, word2, word3, prefix }: Cidr, flags: number): void {
    const { width, words } = this;
    const at = row * width;
    words[at] = word0;
    if (width > 1) words[at + 1] = word1;
    if (width > 2) words[at + 2] = word2;
    if (width > 2) words[at + 3] = word3;
    this.prefixes[row] = prefix;
    this.flags[row] = flags;
  }

  /** Moves a row and all behind it to another place, and changes the count with them. */
  #move(from: number, to: number): void {
    this.words.copyWithin(to * this.width, from * this.width, this.count * this.width);
    this.prefixes.copyWithin(to, from, this.count);
    this.flags.copyWithin(to, from, this.count);
    this.count += to - from;
  }

  #reserve(count: number): void {
    if (count <= this.flags.length) return;
    // A quarter more at a time, so that each row is copied only a few times in all.
    const room = Math.ceil(count * 1.25) + 15;
    const { words, prefixes, flags } = this;
    this.words = new Uint32Array(room * this.width);
    this.words.set(words);
    this.prefixes = new Uint8Array(room);
    this.prefixes.set(prefixes);
    this.flags = new Uint8Array(room);
    this.flags.set(flags);
  }
}
