import { parseCidr } from '../../src/lib/ip/cidr.ts';

type Content = string | number | boolean | readonly Content[] | { readonly [name: string]: Content };

interface Options {
  readonly type?: string;
  /** Bits of a record of its tree. */
  readonly bits?: 24 | 28 | 32;
  /** 4: it has no addresses of IPv6. */
  readonly version?: 4 | 6;
}

type Tree = [Tree | number | undefined, Tree | number | undefined];

/** A file in the MaxMind DB format, with a record for each range of addresses. Ranges must not overlap. */
export function geoDatabase(
  records: Readonly<Record<string, Content>>,
  { type = 'Test-City', bits = 28, version = 6 }: Options = {},
): Buffer {
  const data: Buffer[] = [];
  let length = 0;
  const root: Tree = [undefined, undefined];
  for (const [range, content] of Object.entries(records)) {
    const place = length;
    const bytes = encode(content);
    data.push(bytes);
    length += bytes.length;
    insert(root, bitsOf(range, version), place);
  }
  const nodes: Tree[] = [];
  const numbers = new Map<Tree, number>();
  for (let waiting = [root]; waiting.length > 0;) {
    const node = waiting.shift()!;
    numbers.set(node, nodes.length);
    nodes.push(node);
    waiting = [...waiting, ...node.filter((side): side is Tree => Array.isArray(side))];
  }
  const record = (side: Tree[0]): number => {
    if (side === undefined) return nodes.length;
    return typeof side === 'number' ? nodes.length + 16 + side : (numbers.get(side) ?? 0);
  };
  const tree = Buffer.concat(nodes.map(([left, right]) => encodeNode(record(left), record(right), bits)));
  const metadata = encode({
    node_count: nodes.length,
    record_size: bits,
    ip_version: version,
    database_type: type,
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 1_790_000_000,
    languages: ['en'],
    description: { en: 'made by a test' },
  });
  const marker = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
  return Buffer.concat([tree, Buffer.alloc(16), ...data, marker, metadata]);
}

function bitsOf(range: string, version: 4 | 6): readonly number[] {
  const parsed = parseCidr(range);
  if (!parsed.ok) throw new Error(range);
  const { family, prefix, word0, word1, word2, word3 } = parsed.cidr;
  const words = [word0, word1, word2, word3];
  const bits = Array.from({ length: prefix }, (_, at) => ((words[at >> 5] ?? 0) >>> (31 - (at & 31))) & 1);
  return family === 4 && version === 6 ? [...Array.from({ length: 96 }, () => 0), ...bits] : bits;
}

function insert(root: Tree, bits: readonly number[], place: number): void {
  let node = root;
  for (const [at, bit] of bits.entries()) {
    const side = bit === 0 ? 0 : 1;
    if (at === bits.length - 1) {
      node[side] = place;
      return;
    }
    const below = node[side];
    const next: Tree = Array.isArray(below) ? below : [undefined, undefined];
    node[side] = next;
    node = next;
  }
}

function encodeNode(left: number, right: number, bits: 24 | 28 | 32): Buffer {
  const node = Buffer.alloc(bits / 4);
  if (bits === 28) {
    node.writeUIntBE(left & 0xffffff, 0, 3);
    node.writeUInt8(((left >>> 24) << 4) | (right >>> 24), 3);
    node.writeUIntBE(right & 0xffffff, 4, 3);
  } else {
    node.writeUIntBE(left, 0, bits / 8);
    node.writeUIntBE(right, bits / 8, bits / 8);
  }
  return node;
}

/** A value in the form of the data section; numbers that are not whole are doubles. */
export function encode(value: Content): Buffer {
  if (typeof value === 'string') return tagged(2, Buffer.from(value));
  if (typeof value === 'boolean') return Buffer.from([value ? 1 : 0, 7]);
  if (typeof value === 'number') {
    if (Number.isInteger(value) && value >= 0) {
      const bytes = Buffer.alloc(8);
      bytes.writeBigUInt64BE(BigInt(value));
      const first = bytes.findIndex((byte) => byte !== 0);
      return tagged(value > 0xffffffff ? 9 : 6, bytes.subarray(first < 0 ? 8 : first));
    }
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE(value);
    return tagged(3, bytes);
  }
  const parts = Array.isArray(value)
    ? value.map(encode)
    : Object.entries(value).flatMap(([name, each]) => [encode(name), encode(each)]);
  const [type, size] = Array.isArray(value) ? [11, value.length] : [7, Object.keys(value).length];
  return Buffer.concat([control(type, size), ...parts]);
}

function tagged(type: number, bytes: Buffer): Buffer {
  return Buffer.concat([control(type, bytes.length), bytes]);
}

function control(type: number, size: number): Buffer {
  const long = size < 29 ? [] : size < 285 ? [size - 29] : [(size - 285) >> 8, (size - 285) & 255];
  const bits = size < 29 ? size : size < 285 ? 29 : 30;
  return Buffer.from(type > 7 ? [bits, type - 7, ...long] : [(type << 5) | bits, ...long]);
}
