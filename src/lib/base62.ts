const alphabet = Buffer.from('0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz');

const groupDigits = 5;
const groupBase = 62 ** groupDigits;

/** The bytes as one big-endian number in base 62, padded with zeros to `length` characters. */
export function encodeBase62(bytes: Uint8Array, length: number): string {
  const words = toWords(bytes);
  const text = Buffer.allocUnsafe(length);
  let at = length;
  while (at > 0) {
    let group = divide(words);
    for (let digit = 0; digit < groupDigits && at > 0; digit++) {
      const quotient = Math.floor(group / 62);
      text[--at] = alphabet[group - quotient * 62] ?? 0;
      group = quotient;
    }
  }
  return text.toString('latin1');
}

export function isBase62(text: string): boolean {
  return /^[0-9A-Za-z]+$/.test(text);
}

/** Divides the 16-bit words, in place, by five digits' worth; answers the remainder. */
function divide(words: Float64Array): number {
  let remainder = 0;
  for (let at = 0; at < words.length; at++) {
    // Below 2³⁰ · 2¹⁶, well inside the exact integers of a double.
    const value = remainder * 0x1_0000 + (words[at] ?? 0);
    const quotient = Math.floor(value / groupBase);
    words[at] = quotient;
    remainder = value - quotient * groupBase;
  }
  return remainder;
}

/** Most significant first; the first word has one byte where the bytes are odd in number. */
function toWords(bytes: Uint8Array): Float64Array {
  const words = new Float64Array(Math.ceil(bytes.length / 2));
  for (let word = words.length - 1, at = bytes.length - 1; word >= 0; word--, at -= 2) {
    words[word] = (bytes[at - 1] ?? 0) * 256 + (bytes[at] ?? 0);
  }
  return words;
}
