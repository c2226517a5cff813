import type { IpAddress } from './address.ts';

/**
 * Disjoint intervals in ascending order, each from its start to the next one's; before the first the flags are 0. Plain
 * data, so that it can be cloned to another thread as it is. A lookup in a large table is a wait for memory, so a row is
 * as short as it can be: it leaves out the bits that all starts share, those that its bucket implies, and those that no
 * start has set; `README.md` has a drawing. Indexes are in range by construction, hence the `!`.
 */
export interface IntervalTable {
  /** Words in a start: the first 1, 2 or 4 words of an address. */
  readonly width: number;
  /** The first start, then the last one. */
  readonly bounds: Uint32Array;
  /** The flags from the last start on. */
  readonly lastFlags: number;
  /** Leading bits that all starts share. */
  readonly sharedBits: number;
  /** Bits after the shared ones; they choose the bucket. */
  readonly indexBits: number;
  /** Leading bits after which no start has a bit set. */
  readonly usedBits: number;
  /** For each bucket, the number of rows in the buckets before it; one more element than there are buckets. */
  readonly index: Uint32Array;
  /** The bits of a start after those of the bucket, then the single-unit bit, then the flags. */
  readonly rows: Uint16Array | Uint32Array;
  /** Elements in a row, most significant first; more than one in a `Uint16Array` only. */
  readonly rowLength: number;
  readonly flagBits: number;
}

/** Scratch memory of lookups, which never yield: an address with zeros behind it, and the row it would have. */
const address = new Uint32Array(6);
const wanted = new Uint16Array(9);

/** The flags of the interval in which the address lies. */
export function flagsAt(table: IntervalTable, ip: IpAddress): number {
  if (table.width > 1) return flagsAtWide(table, ip);
  const { bounds, sharedBits, indexBits, index } = table;
  const key = (ip.word0 & (-1 << (32 - table.usedBits))) >>> 0;
  if (key < bounds[0]!) return 0;
  if (key >= bounds[1]!) return table.lastFlags;
  const bucket = (key << sharedBits) >>> (32 - indexBits);
  return findShort(table, index[bucket]!, index[bucket + 1]!, key << (sharedBits + indexBits));
}

function flagsAtWide(table: IntervalTable, ip: IpAddress): number {
  const { width, bounds, sharedBits, indexBits, index } = table;
  setAddress(ip, table.usedBits);
  if (isBefore(address, bounds, 0, width)) return 0;
  if (!isBefore(address, bounds, width, width)) return table.lastFlags;
  const bucket = bitsAt(address, sharedBits) >>> (32 - indexBits);
  const first = index[bucket]!;
  const end = index[bucket + 1]!;
  return table.rowLength === 1
    ? findShort(table, first, end, bitsAt(address, sharedBits + indexBits))
    : findLong(table, first, end);
}

/** Searches rows of one element for an address that has these bits after those of its bucket. */
function findShort({ rows, flagBits }: IntervalTable, first: number, end: number, bits: number): number {
  const tail = (2 << flagBits) - 1;
  const row = ((bits >>> (32 - rows.BYTES_PER_ELEMENT * 8)) | tail) >>> 0;
  let low = first;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (rows[middle]! <= row) low = middle + 1;
    else high = middle;
  }
  const found = rows[low - 1]!;
  const flags = found & (tail >>> 1);
  const isSingleUnit = (found & tail) !== flags;
  return !isSingleUnit || (low > first && (found | tail) >>> 0 === row) ? flags : 0;
}

/** Searches rows of several elements for the address in `address`. */
function findLong(table: IntervalTable, first: number, end: number): number {
  const { rows, rowLength } = table;
  const tail = (2 << table.flagBits) - 1;
  writeRow(address, table, tail, wanted, 0);
  let low = first;
  let high = end;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(wanted, rows, middle * rowLength, rowLength)) high = middle;
    else low = middle + 1;
  }
  const found = rows[low * rowLength - 1]!;
  const flags = found & (tail >>> 1);
  const isSingleUnit = (found & tail) !== flags;
  return !isSingleUnit || (low > first && isSameUnit(rows, low - 1, rowLength, tail)) ? flags : 0;
}

/** Whether the row has the start of the unit in which the address in `wanted` lies. */
function isSameUnit(rows: IntervalTable['rows'], row: number, rowLength: number, tail: number): boolean {
  const last = rowLength - 1;
  for (let element = 0; element < last; element++)
    if (rows[row * rowLength + element] !== wanted[element]) return false;
  return (rows[row * rowLength + last]! | tail) === wanted[last];
}

function isBefore(left: Uint16Array | Uint32Array, right: Uint16Array | Uint32Array, at: number, length: number) {
  for (let element = 0; element < length; element++) {
    const difference = left[element]! - right[at + element]!;
    if (difference !== 0) return difference < 0;
  }
  return false;
}

/** Clears the bits that no start has set: they cannot change which interval the address lies in. */
function setAddress(ip: IpAddress, usedBits: number): void {
  address[0] = ip.word0;
  address[1] = ip.word1;
  address[2] = ip.word2;
  address[3] = ip.word3;
  const last = (usedBits - 1) >>> 5;
  address[last]! &= -1 << (-usedBits & 31);
  for (let word = last + 1; word < 4; word++) address[word] = 0;
}

/** Writes the row of an address or start; its words must have zeros behind them. */
export function writeRow(
  words: Uint32Array,
  { sharedBits, indexBits, rowLength }: Pick<IntervalTable, 'sharedBits' | 'indexBits' | 'rowLength'>,
  tail: number,
  rows: Uint16Array | Uint32Array,
  at: number,
): void {
  for (let element = 0; element < rowLength; element++)
    rows[at + element] = bitsAt(words, sharedBits + indexBits + element * 16) >>> 16;
  rows[at + rowLength - 1]! |= tail;
}

/** 32 bits, from this one on. */
export function bitsAt(words: Uint32Array, bit: number): number {
  const at = bit >>> 5;
  const shift = bit & 31;
  const high = words[at]! << shift;
  return shift === 0 ? high : high | (words[at + 1]! >>> (32 - shift));
}
