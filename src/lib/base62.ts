const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

const groupDigits = 5;
const groupBase = 62 ** groupDigits;

/** The bytes as one big-endian number in base 62, padded with zeros to `length` characters. */
export function encodeBase62(bytes: Uint8Array, length: number): string {
  const words = toWords(bytes);
  let text = '';
  while (text.length < length) text = groupText(divide(words)) + text;
  return text.slice(text.length - length);
}

export function isBase62(text: string): boolean {
  return /^[0-9A-Za-z]+$/.test(text);
}

/** Divides the 16-bit words, in place, by five digits' worth; answers the remainder. */
function divide(words: number[]): number {
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

function groupText(group: number): string {
  let text = '';
  for (let digit = 0; digit < groupDigits; digit++) {
    text = `${alphabet[group % 62]}${text}`;
    group = Math.floor(group / 62);
  }
  return text;
}

function toWords(bytes: Uint8Array): number[] {
  const words: number[] = [];
  for (let at = bytes.length; at > 0; at -= 2) words.unshift((bytes[at - 2] ?? 0) * 256 + (bytes[at - 1] ?? 0));
  return words;
}
