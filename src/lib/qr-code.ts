/** Codewords of data and of checks in the five smallest versions, at the lowest level of correction: each is one block. */
const versions = [
  { data: 19, checks: 7 },
  { data: 34, checks: 10 },
  { data: 55, checks: 15 },
  { data: 80, checks: 20 },
  { data: 108, checks: 26 },
] as const;
/** Bits of the mode, of the length and of the end: a byte and a half around the text. */
const frameBytes = 2;
/** The format bits of ISO/IEC 18004 for the lowest level of correction and the mask of a chessboard. */
const formatBits = 0b111_0111_1100_0100;
const byteMode = 0b0100;

/** The light rim without which no camera finds a code, in modules. */
const rim = 2;

/** Lines of block characters for black on white, two rows of modules in each; undefined where the text is too long for a code. */
export function qrLines(text: string): readonly string[] | undefined {
  const rows = qrCode(text);
  if (rows === undefined) return undefined;
  const size = rows.length + 2 * rim;
  const isDark = (row: number, column: number): boolean => rows[row - rim]?.[column - rim] === true;
  const line = (row: number): string =>
    Array.from({ length: size }, (_, column) =>
      isDark(row, column) ? (isDark(row + 1, column) ? '█' : '▀') : isDark(row + 1, column) ? '▄' : ' ',
    ).join('');
  return Array.from({ length: Math.ceil(size / 2) }, (_, at) => line(2 * at));
}

/** Rows of modules, true where one is dark; undefined for a text of more than 106 bytes. */
export function qrCode(text: string): readonly (readonly boolean[])[] | undefined {
  const bytes = Buffer.from(text);
  const at = versions.findIndex(({ data }) => bytes.length + frameBytes <= data);
  const version = versions[at];
  if (version === undefined) return undefined;
  const data = dataWords(bytes, version.data);
  const canvas = new Canvas(at + 1);
  canvas.place([...data, ...checkWords(data, version.checks)]);
  return canvas.rows;
}

/** The text with its mode and length before it, four bits across, and padding behind. */
function dataWords(bytes: Uint8Array, length: number): readonly number[] {
  const nibbles = [byteMode, ...[bytes.length, ...bytes].flatMap((byte) => [byte >> 4, byte & 15]), 0];
  const half = (at: number): number => nibbles[at] ?? 0;
  const words = Array.from({ length: nibbles.length / 2 }, (_, at) => (half(2 * at) << 4) | half(2 * at + 1));
  return [...words, ...Array.from({ length: length - words.length }, (_, at) => (at % 2 === 0 ? 0xec : 0x11))];
}

/** The remainder of a division by (x - 1)(x - 2)(x - 4)…, over the field of 256 elements. */
function checkWords(data: readonly number[], count: number): readonly number[] {
  let generator = [1];
  for (let power = 0, root = 1; power < count; power++, root = multiply(root, 2)) {
    generator = [...generator, 0].map((word, at) => word ^ multiply(generator[at - 1] ?? 0, root));
  }
  const rest = [...data, ...Array<number>(count).fill(0)];
  for (let at = 0; at < data.length; at++) {
    const factor = rest[at] ?? 0;
    for (const [term, word] of generator.entries()) rest[at + term] = (rest[at + term] ?? 0) ^ multiply(word, factor);
  }
  return rest.slice(data.length);
}

/** Product in the field with the polynomial x^8 + x^4 + x^3 + x^2 + 1. */
function multiply(a: number, b: number): number {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ (product & 0x80 ? 0x11d : 0);
    if ((b >> bit) & 1) product ^= a;
  }
  return product;
}

/** Modules of one code: first the patterns by which a camera finds it, then the words. */
class Canvas {
  readonly rows: boolean[][];
  readonly #isFixed: boolean[][];
  readonly #size: number;

  constructor(version: number) {
    this.#size = 17 + 4 * version;
    const empty = (): boolean[][] => Array.from({ length: this.#size }, () => Array<boolean>(this.#size).fill(false));
    this.rows = empty();
    this.#isFixed = empty();
    const last = this.#size - 1;
    for (let at = 0; at < this.#size; at++) {
      this.#set(6, at, at % 2 === 0);
      this.#set(at, 6, at % 2 === 0);
    }
    // A ring of light around a square of seven, and a smaller one near the fourth corner.
    for (const [row, column] of [
      [3, 3],
      [3, last - 3],
      [last - 3, 3],
    ] as const)
      this.#rings(row, column, 4);
    if (version > 1) this.#rings(last - 6, last - 6, 2);
    this.#format();
  }

  /** Puts words in columns of two from the right, up and down in turn. */
  place(words: readonly number[]): void {
    let bit = 0;
    for (let right = this.#size - 1, isUp = true; right > 0; right -= 2, isUp = !isUp) {
      if (right === 6) right--;
      for (let step = 0; step < this.#size; step++) {
        const row = isUp ? this.#size - 1 - step : step;
        for (const column of [right, right - 1]) {
          if (this.#isFixed[row]?.[column] !== false) continue;
          const isDark = ((words[bit >> 3] ?? 0) >> (7 - (bit & 7))) & 1;
          bit++;
          this.#write(row, column, (isDark === 1) !== ((row + column) % 2 === 0));
        }
      }
    }
  }

  #rings(row: number, column: number, radius: number): void {
    for (let y = -radius; y <= radius; y++) {
      for (let x = -radius; x <= radius; x++) {
        const ring = Math.max(Math.abs(x), Math.abs(y));
        this.#set(row + y, column + x, radius === 4 ? ring !== 2 && ring !== 4 : ring !== 1);
      }
    }
  }

  /** Both copies of the format, and the module beside them that is always dark. */
  #format(): void {
    const last = this.#size - 1;
    for (let bit = 0; bit < 15; bit++) {
      const isDark = ((formatBits >> bit) & 1) === 1;
      const near = bit < 6 ? bit : bit < 8 ? bit + 1 : bit === 8 ? 7 : 14 - bit;
      if (bit < 8) this.#set(near, 8, isDark);
      else this.#set(8, near, isDark);
      if (bit < 8) this.#set(8, last - bit, isDark);
      else this.#set(last - 14 + bit, 8, isDark);
    }
    this.#set(last - 7, 8, true);
  }

  #set(row: number, column: number, isDark: boolean): void {
    this.#write(row, column, isDark);
    const fixed = this.#isFixed[row];
    if (fixed?.[column] !== undefined) fixed[column] = true;
  }

  /** Modules beside the code, where a ring of light ends, are none. */
  #write(row: number, column: number, isDark: boolean): void {
    const modules = this.rows[row];
    if (modules?.[column] !== undefined) modules[column] = isDark;
  }
}
