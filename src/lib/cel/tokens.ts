import { ExpressionFault } from './syntax-fault.ts';

export type Token =
  | { readonly kind: 'text'; readonly value: string; readonly at: number }
  | { readonly kind: 'number'; readonly value: number; readonly at: number }
  | { readonly kind: 'name'; readonly value: string; readonly at: number }
  | { readonly kind: 'sign'; readonly value: string; readonly at: number }
  | { readonly kind: 'end'; readonly value: ''; readonly at: number };

const blanks = /[ \t\r\n]*/y;
const number = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const name = /[A-Za-z_]\w*/y;
const sign = /&&|\|\||[<>=!]=|[<>!()[\],.]/y;
/** Escapes of one character in a text, with what they stand for. */
const escapes: ReadonlyMap<string, string> = new Map([
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['\\', '\\'],
  ['"', '"'],
  ["'", "'"],
  ['`', '`'],
]);
const codeLengths: ReadonlyMap<string, number> = new Map([
  ['x', 2],
  ['u', 4],
  ['U', 8],
]);

/** Cuts an expression into its tokens; the last one is the end. */
export function tokenize(source: string): readonly Token[] {
  const tokens: Token[] = [];
  let from = endOf(blanks, source, 0);
  while (from < source.length) {
    const [token, to] = nextToken(source, from);
    tokens.push(token);
    from = endOf(blanks, source, to);
  }
  tokens.push({ kind: 'end', value: '', at: from + 1 });
  return tokens;
}

function nextToken(source: string, from: number): readonly [Token, number] {
  const at = from + 1;
  const first = source.charAt(from);
  if (first === '"' || first === "'") return readText(source, from);
  const numberEnd = endOf(number, source, from);
  if (numberEnd > from) {
    const value = Number(source.slice(from, numberEnd));
    if (!Number.isFinite(value)) throw new ExpressionFault(at, 'the number is too large');
    return [{ kind: 'number', value, at }, numberEnd];
  }
  const nameEnd = endOf(name, source, from);
  if (nameEnd > from) return [{ kind: 'name', value: source.slice(from, nameEnd), at }, nameEnd];
  const signEnd = endOf(sign, source, from);
  if (signEnd > from) return [{ kind: 'sign', value: source.slice(from, signEnd), at }, signEnd];
  throw new ExpressionFault(at, describeUnknown(first));
}

function describeUnknown(character: string): string {
  if (character === '=') return '"=" is no operator; "==" compares';
  if (character === '&' || character === '|') return `"${character}" is no operator; "&&" is and, "||" is or`;
  if (/[+\-*/%]/.test(character)) return `arithmetic ("${character}") is not offered`;
  if (character === '?') return 'a choice ("? :") is not offered';
  return `${JSON.stringify(character)} has no meaning here`;
}

/** Reads a text in either kind of quotes, with its escapes. */
function readText(source: string, from: number): readonly [Token, number] {
  const quotes = source.charAt(from);
  const at = from + 1;
  let value = '';
  for (let place = from + 1; place < source.length; place++) {
    const character = source.charAt(place);
    if (character === quotes) return [{ kind: 'text', value: checked(value, at), at }, place + 1];
    if (character === '\\') {
      const [meaning, length] = readEscape(source, place);
      value += meaning;
      place += length - 1;
    } else {
      value += character;
    }
  }
  throw new ExpressionFault(at, `the text has no closing ${quotes}`);
}

function readEscape(source: string, from: number): readonly [string, number] {
  const letter = source.charAt(from + 1);
  const single = escapes.get(letter);
  if (single !== undefined) return [single, 2];
  const digits = source.slice(from + 2, from + 2 + (codeLengths.get(letter) ?? 0));
  const code = /^[0-9a-fA-F]+$/.test(digits) && digits.length === codeLengths.get(letter) ? parseInt(digits, 16) : -1;
  if (code < 0 || code > 0x10_ff_ff) throw new ExpressionFault(from + 1, `"\\${letter}" is no escape that is known`);
  return [String.fromCodePoint(code), 2 + digits.length];
}

/** Refuses what no database takes as a text. */
function checked(value: string, at: number): string {
  if (value.includes('\0')) throw new ExpressionFault(at, 'the text holds a NUL character');
  if (!value.isWellFormed()) throw new ExpressionFault(at, 'the text holds half of a surrogate pair');
  return value;
}

/** Where the pattern ends that begins at a place; the place itself where it does not. */
function endOf(pattern: RegExp, source: string, from: number): number {
  pattern.lastIndex = from;
  return from + (pattern.exec(source)?.[0].length ?? 0);
}
