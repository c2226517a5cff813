/** Digits in the order of their values, which is also that of their character codes. */
export const base62Digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const alphabet = Buffer.from(base62Digits);

const isDigit = new Uint8Array(128);
for (const code of alphabet) isDigit[code] = 1;

const groupDigits = 5;
const groupBase = 62 ** groupDigits;

/** Scratch memory for 64 bytes: fresh arrays for each number would cost more than the arithmetic. */
const words = new Float64Array(32);
const characters = Buffer.alloc(86);

/** Writes the bytes, 64 at most, as one big-endian number in base 62, padded with zeros to `length` characters. */
export function encodeBase62(bytes: Uint8Array, length: number): string {
  const wordCount = readWords(bytes);
  let at = length;
  while (at > 0) {
    let group = divideWords(wordCount);
    for (let digit = 0; digit < groupDigits && at > 0; digit++) {
      const quotient = Math.floor(group / 62);
      characters[--at] = alphabet[group - quotient * 62] ?? 0;
      group = quotient;
    }
  }
  return characters.toString('latin1', 0, length);
}

/** True if the text from `start` to `end` is not empty and has digits only. */
export function isBase62(text: string, start = 0, end = text.length): boolean {
  for (let at = start; at < end; at++) if (isDigit[text.charCodeAt(at)] !== 1) return false;
  return end > start;
}

/** Divides the first `count` 16-bit words, in place, by 62⁵, and returns the remainder: the last five digits. */
function divideWords(count: number): number {
  let remainder = 0;
  for (let at = 0; at < count; at++) {
    // The value is below 2³⁰ · 2¹⁶, so that a double is exact.
    const value = remainder * 0x1_0000 + (words[at] ?? 0);
    const quotient = Math.floor(value / groupBase);
    words[at] = quotient;
    remainder = value - quotient * groupBase;
  }
  return remainder;
}

/** Fills `words`, most significant first; the first has one byte if the number of bytes is odd. Returns their count. */
function readWords(bytes: Uint8Array): number {
  const count = Math.ceil(bytes.length / 2);
  for (let word = count - 1, at = bytes.length - 1; word >= 0; word--, at -= 2) {
    words[word] = (bytes[at - 1] ?? 0) * 256 + (bytes[at] ?? 0);
  }
  return count;
}
