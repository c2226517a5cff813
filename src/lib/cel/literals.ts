import { ExpressionFault } from './syntax-fault.ts';

type Literal =
  | { readonly kind: 'text'; readonly value: string; readonly at: number }
  | { readonly kind: 'bytes'; readonly value: Uint8Array; readonly at: number };

/** Escapes of one character in a text, with what they stand for. */
const escapes: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['a', '\u0007'],
  ['b', '\b'],
  ['f', '\f'],
  ['v', '\v'],
  ['\\', '\\'],
  ['?', '?'],
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
]);
const codeLengths: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['X', 2],
  ['u', 4],
  ['U', 8],
]);

/** Reads a text or bytes, whose quotes or prefix begin at a place. Returns it and the place behind it. */
export function readLiteral(source: string, from: number): readonly [Literal, number] {
  const at = from + 1;
  let place = from;
  while (/[rRbB]/.test(source.charAt(place))) place += 1;
  const prefix = source.slice(from, place).toLowerCase();
  const [isRaw, isBytes] = [prefix.includes('r'), prefix.includes('b')];
  const quote = source.charAt(place);
  const quotes = source.startsWith(quote.repeat(3), place) ? quote.repeat(3) : quote;
  const text: string[] = [];
  place += quotes.length;
  while (place < source.length) {
    const character = source.charAt(place);
    if (source.startsWith(quotes, place)) return [toLiteral(text.join(''), isBytes, at), place + quotes.length];
    if (quotes.length === 1 && (character === '\n' || character === '\r'))
      throw new ExpressionFault(at, `the text has no closing ${quotes} on its line; write a line break as \\n`);
    if (character === '\\' && !isRaw) {
      const [meaning, length] = readEscape(source, place, isBytes);
      text.push(meaning);
      place += length;
    } else {
      text.push(isBytes ? utf8Of(character, source, place) : character);
      place += isBytes && character !== String.fromCodePoint(source.codePointAt(place) ?? 0) ? 2 : 1;
    }
  }
  throw new ExpressionFault(at, `the text has no closing ${quotes}`);
}

/** A character as its bytes in UTF-8, one character each. */
function utf8Of(character: string, source: string, at: number): string {
  return Buffer.from(String.fromCodePoint(source.codePointAt(at) ?? character.charCodeAt(0))).toString('latin1');
}

function toLiteral(value: string, isBytes: boolean, at: number): Literal {
  if (isBytes) return { kind: 'bytes', value: Buffer.from(value, 'latin1'), at };
  if (!value.isWellFormed()) throw new ExpressionFault(at, 'the text holds half of a surrogate pair');
  return { kind: 'text', value, at };
}

/** Codes of up to two hexadecimal, or of octal digits are bytes among bytes; all others are characters. */
function readEscape(source: string, from: number, isBytes: boolean): readonly [string, number] {
  const letter = source.charAt(from + 1);
  const single = escapes.get(letter);
  if (single !== undefined) return [single, 2];
  const isOctal = /[0-3]/.test(letter);
  const length = isOctal ? 3 : (codeLengths.get(letter) ?? 0);
  const start = isOctal ? from + 1 : from + 2;
  const digits = source.slice(start, start + length);
  const form = isOctal ? /^[0-7]+$/ : /^[0-9a-fA-F]+$/;
  const code = form.test(digits) && digits.length === length ? parseInt(digits, isOctal ? 8 : 16) : -1;
  const isOfCharacter = letter === 'u' || letter === 'U';
  if (code < 0 || code > 0x10_ff_ff || (isBytes && isOfCharacter))
    throw new ExpressionFault(from + 1, `"\\${letter}" is no escape that is known`);
  return [String.fromCodePoint(code), start - from + length];
}
