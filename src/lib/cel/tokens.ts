import { readLiteral } from './literals.ts';
import { ExpressionFault } from './syntax-fault.ts';
import { Uint } from './values.ts';

export type Token =
  | { readonly kind: 'text'; readonly value: string; readonly at: number }
  | { readonly kind: 'bytes'; readonly value: Uint8Array; readonly at: number }
  /** An integer is a bigint, a double a number. `isDecimal`: an integer without "0x". */
  | { readonly kind: 'number'; readonly value: bigint | number | Uint; readonly at: number }
  | { readonly kind: 'name'; readonly value: string; readonly at: number }
  | { readonly kind: 'sign'; readonly value: string; readonly at: number }
  | { readonly kind: 'end'; readonly value: ''; readonly at: number };

const blanks = /(?:[ \t\r\n\f]|\/\/[^\n]*(?:\n|$))*/y;
const number = /0[xX][0-9a-fA-F]+[uU]?|(?:\d+(?:\.\d+)?|\.\d+)(?:[eE][+-]?\d+)?[uU]?/y;
const name = /[A-Za-z_]\w*/y;
const sign = /&&|\|\||[<>=!]=|[<>!()[\]{},.+\-*/%?:]/y;
const literalStart = /(?:[rR][bB]?|[bB][rR]?)?["']/y;

/** Cuts an expression into its tokens; the last one is the end. */
export function tokenize(source: string): readonly Token[] {
  return readTokens(source, 0, false).tokens;
}

/** The same of an expression inside a text, which ends at the first "}" that it has not opened itself. */
export function tokenizeUntilBrace(source: string, from: number): readonly Token[] {
  const { tokens, isClosed } = readTokens(source, from, true);
  if (!isClosed) throw new ExpressionFault(from - 1, 'the expression that "${" begins has no closing "}"');
  return tokens;
}

function readTokens(source: string, start: number, endsAtBrace: boolean) {
  const tokens: Token[] = [];
  let open = 0;
  let from = endOf(blanks, source, start);
  while (from < source.length) {
    if (endsAtBrace && open === 0 && source.charAt(from) === '}') break;
    const [token, to] = nextToken(source, from);
    if (token.kind === 'sign') open += token.value === '{' ? 1 : token.value === '}' ? -1 : 0;
    tokens.push(token);
    from = endOf(blanks, source, to);
  }
  tokens.push({ kind: 'end', value: '', at: from + 1 });
  return { tokens, isClosed: from < source.length };
}

function nextToken(source: string, from: number): readonly [Token, number] {
  const at = from + 1;
  if (endOf(literalStart, source, from) > from) return readLiteral(source, from);
  const numberEnd = endOf(number, source, from);
  if (numberEnd > from) return [{ kind: 'number', value: numberOf(source.slice(from, numberEnd), at), at }, numberEnd];
  const nameEnd = endOf(name, source, from);
  if (nameEnd > from) return [{ kind: 'name', value: source.slice(from, nameEnd), at }, nameEnd];
  const signEnd = endOf(sign, source, from);
  if (signEnd > from) return [{ kind: 'sign', value: source.slice(from, signEnd), at }, signEnd];
  throw new ExpressionFault(at, describeUnknown(String.fromCodePoint(source.codePointAt(from) ?? 0)));
}

function numberOf(text: string, at: number): bigint | number | Uint {
  const isUnsigned = /u$/i.test(text);
  const digits = isUnsigned ? text.slice(0, -1) : text;
  if (/^\d+$|^0x/i.test(digits)) {
    // Longer ones are no 64 bits.
    if (digits.length > 40) throw new ExpressionFault(at, 'the number is too large');
    return isUnsigned ? new Uint(BigInt(digits)) : BigInt(digits);
  }
  if (isUnsigned) throw new ExpressionFault(at, 'a number with a fraction or an exponent takes no "u"');
  const value = Number(digits);
  if (!Number.isFinite(value)) throw new ExpressionFault(at, 'the number is too large');
  return value;
}

function describeUnknown(character: string): string {
  if (character === '=') return '"=" is no operator; "==" compares';
  if (character === '&' || character === '|') return `"${character}" is no operator; "&&" is and, "||" is or`;
  if (character === '`') return "names in backticks are not offered; write ['name']";
  return `${JSON.stringify(character)} has no meaning here`;
}

/** Where the pattern ends that begins at a place; the place itself where it does not. */
function endOf(pattern: RegExp, source: string, from: number): number {
  pattern.lastIndex = from;
  return from + (pattern.exec(source)?.[0].length ?? 0);
}
