export type MmdbValue = string | number | bigint | boolean | Buffer | readonly MmdbValue[] | MmdbMap;
export type MmdbMap = ReadonlyMap<string, MmdbValue>;

/** Bounds of one record: a file may be broken, and what it points to may be anything. */
const deepest = 32;
const mostValues = 10_000;

/** Reads the value at a place of a data section. Throws where there is none. */
export function decode(data: Buffer, at: number): MmdbValue {
  return new Decoder(data, at).value(0);
}

class Decoder {
  readonly #data: Buffer;
  #at: number;
  #left = mostValues;

  constructor(data: Buffer, at: number) {
    this.#data = data;
    this.#at = at;
  }

  value(depth: number): MmdbValue {
    if (depth > deepest || --this.#left < 0) throw new Error('a record is nested too deep, or too long');
    const control = this.#data.readUInt8(this.#at++);
    const kind = control >> 5;
    if (kind === 1) return this.#pointed(control, depth);
    const type = kind === 0 ? this.#data.readUInt8(this.#at++) + 7 : kind;
    const size = this.#size(control & 31);
    switch (type) {
      case 2:
        return this.#bytes(size).toString('utf8');
      case 3:
        return this.#bytes(sizeOf(size, 8)).readDoubleBE();
      case 4:
        return Buffer.from(this.#bytes(size));
      case 5:
      case 6:
        return size === 0 ? 0 : this.#bytes(atMost(size, 4)).readUIntBE(0, size);
      case 7:
        return this.#map(size, depth);
      case 8:
        return size === 0
          ? 0
          : size === 4
            ? this.#bytes(4).readInt32BE()
            : this.#bytes(atMost(size, 4)).readUIntBE(0, size);
      case 9:
      case 10:
        return BigInt(`0x${this.#bytes(atMost(size, 16)).toString('hex') || '0'}`);
      case 11:
        return Array.from({ length: atMost(size, mostValues) }, () => this.value(depth + 1));
      case 14:
        return size !== 0;
      case 15:
        return this.#bytes(sizeOf(size, 4)).readFloatBE();
      default:
        throw new Error(`there is a value of the unknown type ${type}`);
    }
  }

  #map(size: number, depth: number): MmdbMap {
    const map = new Map<string, MmdbValue>();
    for (let left = size; left > 0; left--) {
      const key = this.value(depth + 1);
      if (typeof key !== 'string') throw new Error('a key is no text');
      map.set(key, this.value(depth + 1));
    }
    return map;
  }

  /** A value that stands elsewhere; the place behind the pointer is the next one. */
  #pointed(control: number, depth: number): MmdbValue {
    const length = ((control >> 3) & 3) + 1;
    const rest = this.#bytes(length).readUIntBE(0, length);
    const offset = [0, 2_048, 526_336, 0][length - 1] ?? 0;
    const target = length === 4 ? rest : (control & 7) * 2 ** (8 * length) + rest + offset;
    const next = this.#at;
    this.#at = target;
    const value = this.value(depth + 1);
    this.#at = next;
    return value;
  }

  #size(bits: number): number {
    if (bits < 29) return bits;
    const length = bits - 28;
    const base = [29, 285, 65_821][length - 1] ?? 0;
    return base + this.#bytes(length).readUIntBE(0, length);
  }

  #bytes(length: number): Buffer {
    const end = this.#at + length;
    if (end > this.#data.length) throw new Error('a value ends behind the end of the file');
    const bytes = this.#data.subarray(this.#at, end);
    this.#at = end;
    return bytes;
  }
}

function sizeOf(size: number, wanted: number): number {
  if (size !== wanted) throw new Error(`a number has ${size} bytes, where it has ${wanted}`);
  return size;
}

function atMost(size: number, most: number): number {
  if (size > most) throw new Error(`a value has the size ${size}, where ${most} is the most`);
  return size;
}
