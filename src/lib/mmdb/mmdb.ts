import type { IpAddress } from '../ip/address.ts';
import { decode } from './decode.ts';
import type { MmdbMap } from './decode.ts';

const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
/** The metadata stands at the end of the file. */
const mostMetadata = 131_072;
/** Zero bytes between the tree and the data. */
const gap = 16;

/** A file in the MaxMind DB format, version 2, read into memory. */
export class Mmdb {
  readonly type: string;
  readonly #tree: Buffer;
  readonly #data: Buffer;
  readonly #nodes: number;
  /** Bits of a record: two of them make a node. */
  readonly #bits: number;
  /** Where IPv4 addresses begin; undefined: the file has IPv4 alone. */
  readonly #ipv4Node: number | undefined;

  /** Throws an error that says what is wrong with the file. */
  constructor(file: Buffer) {
    const metadata = readMetadata(file);
    const number = (name: string): number => {
      const value = metadata.get(name);
      if (typeof value !== 'number' && typeof value !== 'bigint') throw new Error(`its metadata have no ${name}`);
      return Number(value);
    };
    const type = metadata.get('database_type');
    this.type = typeof type === 'string' ? type : '';
    const [version, family] = [number('binary_format_major_version'), number('ip_version')];
    if (version !== 2) throw new Error(`its format has the version ${version}, and only 2 is known`);
    this.#nodes = number('node_count');
    this.#bits = number('record_size');
    if (![24, 28, 32].includes(this.#bits)) throw new Error(`its records have ${this.#bits} bits, not 24, 28 or 32`);
    const size = (this.#nodes * this.#bits) / 4;
    if (size + gap > file.length) throw new Error('it is shorter than its own metadata say');
    if (!file.subarray(size, size + gap).every((byte) => byte === 0))
      throw new Error('what its metadata say does not fit its content');
    this.#tree = file.subarray(0, size);
    this.#data = file.subarray(size + gap);
    this.#ipv4Node = family === 6 ? this.#descend(0, [0, 0, 0]) : undefined;
  }

  /** What it says of an address; undefined: nothing. Throws where the file is broken. */
  find(address: IpAddress): MmdbMap | undefined {
    const { family, word0, word1, word2, word3 } = address;
    if (family === 6 && this.#ipv4Node === undefined) return undefined;
    const record =
      family === 4 ? this.#descend(this.#ipv4Node ?? 0, [word0]) : this.#descend(0, [word0, word1, word2, word3]);
    if (record <= this.#nodes) return undefined;
    const found = decode(this.#data, record - this.#nodes - gap);
    return found instanceof Map ? found : undefined;
  }

  /** The record that the bits of these words lead to. */
  #descend(from: number, words: readonly number[]): number {
    let record = from;
    for (const word of words) {
      for (let bit = 31; bit >= 0; bit--) {
        if (record >= this.#nodes) return record;
        record = this.#record(record, (word >>> bit) & 1);
      }
    }
    return record;
  }

  #record(node: number, side: number): number {
    const tree = this.#tree;
    if (this.#bits === 32) return tree.readUInt32BE(node * 8 + side * 4);
    if (this.#bits === 24) return tree.readUIntBE(node * 6 + side * 3, 3);
    const at = node * 7;
    const middle = tree.readUInt8(at + 3);
    return side === 0
      ? ((middle & 0xf0) << 20) | tree.readUIntBE(at, 3)
      : ((middle & 0x0f) << 24) | tree.readUIntBE(at + 4, 3);
  }
}

function readMetadata(file: Buffer): MmdbMap {
  const at = file.lastIndexOf(marker);
  if (at < 0 || at < file.length - mostMetadata) throw new Error('it is no file in the MaxMind DB format');
  const metadata = decode(file.subarray(at + marker.length), 0);
  if (!(metadata instanceof Map)) throw new Error('its metadata cannot be read');
  return metadata;
}
