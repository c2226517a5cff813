import { ExpressionFault } from './syntax-fault.ts';
import { tokenize, tokenizeUntilBrace } from './tokens.ts';
import type { Token } from './tokens.ts';
import { checkDepth } from './tree.ts';
import type { Arithmetic, Comparison, Node } from './tree.ts';
import { Uint } from './values.ts';

/** Levels of brackets, negations and choices. Code that walks a tree may call itself for each. */
export const depthLimit = 32;

const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
const constants: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);
/** Words of the language that are no names. */
const reserved: ReadonlySet<string> = new Set(
  'as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);
const [least, most, mostUnsigned] = [-(2n ** 63n), 2n ** 63n - 1n, 2n ** 64n - 1n];

/** Parses the subset of CEL that lists are filtered by: no arithmetic, no index, no choice. Throws `ExpressionFault`. */
export function parseExpression(source: string): Node {
  return new Parser(tokenize(source), true).parse();
}

/** Parses an expression of CEL. Throws `ExpressionFault`. */
export function parseCel(source: string): Node {
  return parseTokens(tokenize(source));
}

export function parseTokens(tokens: readonly Token[]): Node {
  return new Parser(tokens, false).parse();
}

/** The same of one inside a text, which begins behind its "${". `end` is the index of the "}" that ends it. */
export function parseEmbedded(source: string, from: number): { readonly node: Node; readonly end: number } {
  const tokens = tokenizeUntilBrace(source, from);
  const node = new Parser(tokens, false).parse();
  return { node, end: (tokens.at(-1)?.at ?? 1) - 1 };
}

class Parser {
  readonly #tokens: readonly Token[];
  readonly #isFilter: boolean;
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[], isFilter: boolean) {
    this.#tokens = tokens;
    this.#isFilter = isFilter;
  }

  parse(): Node {
    if (this.#tokens.length === 1) throw new ExpressionFault(this.#isFilter ? 1 : this.#token.at, 'it is empty');
    const node = this.#choice();
    if (this.#token.kind !== 'end') throw this.#unexpected('the end');
    checkDepth(node);
    return node;
  }

  get #token(): Token {
    // The end is never passed.
    return this.#tokens[this.#next] as Token;
  }

  #choice(): Node {
    const condition = this.#either();
    const { at } = this.#token;
    if (!this.#isSign('?')) return condition;
    this.#refuseInFilter('a choice ("? :")');
    this.#take('?');
    return this.#deeper(at, () => {
      const yes = this.#either();
      if (!this.#take(':')) throw this.#unexpected('":"');
      return { kind: 'choice', condition, yes, no: this.#choice(), at };
    });
  }

  #either(): Node {
    return this.#joined('||', 'any', () => this.#joined('&&', 'all', () => this.#relation()));
  }

  /** Several operands of one operator are one node, so that a long filter is not a deep one. */
  #joined(operator: string, kind: 'all' | 'any', operand: () => Node): Node {
    const { at } = this.#token;
    const first = operand();
    if (!this.#isSign(operator)) return first;
    const of = [first];
    while (this.#take(operator)) of.push(operand());
    return { kind, of, at };
  }

  #relation(): Node {
    const left = this.#sum();
    const { kind, value, at } = this.#token;
    const isIn = kind === 'name' && value === 'in';
    if (!isIn && (kind !== 'sign' || !comparisons.has(value))) return left;
    this.#next += 1;
    const right = this.#sum();
    const chained = this.#token;
    if (
      (chained.kind === 'sign' && comparisons.has(chained.value)) ||
      (chained.kind === 'name' && chained.value === 'in')
    )
      throw new ExpressionFault(chained.at, 'a comparison cannot follow another; join them with "&&", or use brackets');
    // The set holds these operators alone.
    return isIn ? { kind: 'in', left, right, at } : { kind: 'compare', operator: value as Comparison, left, right, at };
  }

  #sum(): Node {
    return this.#chain(['+', '-'], () => this.#chain(['*', '/', '%'], () => this.#unary()));
  }

  #chain(operators: readonly Arithmetic[], operand: () => Node): Node {
    let left = operand();
    for (;;) {
      const { at } = this.#token;
      const operator = operators.find((each) => this.#isSign(each));
      if (operator === undefined) return left;
      this.#refuseInFilter(`arithmetic ("${operator}")`);
      this.#take(operator);
      left = { kind: 'arithmetic', operator, left, right: operand(), at };
    }
  }

  #unary(): Node {
    const { at } = this.#token;
    if (this.#take('!')) return this.#deeper(at, () => ({ kind: 'not', of: this.#unary(), at }));
    if (!this.#isSign('-')) return this.#member();
    const following = this.#tokens[this.#next + 1];
    if (following?.kind === 'number' && !(following.value instanceof Uint)) {
      this.#next += 1;
      return this.#members(this.#number(-following.value, at));
    }
    this.#refuseInFilter('arithmetic ("-")');
    this.#take('-');
    return this.#deeper(at, () => ({ kind: 'negate', of: this.#unary(), at }));
  }

  #member(): Node {
    return this.#members(this.#primary());
  }

  #members(first: Node): Node {
    let node = first;
    for (;;) {
      const { at } = this.#token;
      if (this.#isSign('[')) {
        this.#refuseInFilter('access by index');
        this.#take('[');
        const index = this.#deeper(at, () => this.#choice());
        if (!this.#take(']')) throw this.#unexpected('"]"');
        node = { kind: 'index', of: node, index, at };
      } else if (this.#take('.')) node = this.#memberOf(node);
      else if (this.#isSign('{') && (node.kind === 'name' || node.kind === 'member'))
        throw new ExpressionFault(at, 'messages of protocol buffers are not offered; a map has no name before its "{"');
      else return node;
    }
  }

  #memberOf(of: Node): Node {
    const { at } = this.#token;
    const name = this.#name(false);
    return this.#isSign('(')
      ? { kind: 'call', name, of, items: this.#items('(', ')'), at }
      : { kind: 'member', of, name, at };
  }

  #primary(): Node {
    const token = this.#token;
    const { at } = token;
    if (token.kind === 'number') return this.#number(token.value, at);
    if (token.kind === 'text' || token.kind === 'bytes') {
      if (this.#isFilter) checkFilterText(token);
      this.#next += 1;
      return { kind: 'literal', value: token.value, at };
    }
    if (token.kind === 'name') return this.#named();
    if (this.#isSign('[')) return { kind: 'list', items: this.#items('[', ']'), at };
    if (this.#isSign('{')) return this.#map();
    if (!this.#take('(')) throw this.#unexpected('a value');
    const inner = this.#deeper(at, () => this.#choice());
    if (!this.#take(')')) throw this.#unexpected('")"');
    return inner;
  }

  #number(value: number | bigint | Uint, at: number): Node {
    this.#next += 1;
    const fits =
      value instanceof Uint
        ? value.value <= mostUnsigned
        : typeof value === 'number' || (value >= least && value <= most);
    // A filter compares with numbers of JSON.
    if (!fits) throw new ExpressionFault(at, 'the number is too large');
    if (!this.#isFilter) return { kind: 'literal', value, at };
    return { kind: 'literal', value: Number(value instanceof Uint ? value.value : value), at };
  }

  #named(): Node {
    const { at } = this.#token;
    const name = this.#name(true);
    const constant = constants.get(name);
    if (constant !== undefined) return { kind: 'literal', value: constant, at };
    if (this.#isSign('(')) return { kind: 'call', name, of: undefined, items: this.#items('(', ')'), at };
    return { kind: 'name', name, at };
  }

  #map(): Node {
    const { at } = this.#token;
    this.#refuseInFilter('a map');
    this.#take('{');
    const entries: (readonly [Node, Node])[] = [];
    while (!this.#take('}')) {
      if (entries.length > 0 && !this.#take(',')) throw this.#unexpected('"," or "}"');
      if (entries.length > 0 && this.#take('}')) break;
      const key = this.#deeper(at, () => this.#choice());
      if (!this.#take(':')) throw this.#unexpected('":"');
      entries.push([key, this.#deeper(at, () => this.#choice())]);
    }
    return { kind: 'map', entries, at };
  }

  #items(open: string, close: string): readonly Node[] {
    const { at } = this.#token;
    this.#take(open);
    const items: Node[] = [];
    while (!this.#take(close)) {
      if (items.length > 0 && !this.#take(',')) throw this.#unexpected(`"," or "${close}"`);
      // A list may end with a comma.
      if (items.length > 0 && close === ']' && this.#take(close)) break;
      items.push(this.#deeper(at, () => this.#choice()));
    }
    return items;
  }

  #name(isFirst: boolean): string {
    const token = this.#token;
    if (token.kind !== 'name' || token.value === 'in') throw this.#unexpected('a name');
    if (isFirst && reserved.has(token.value))
      throw new ExpressionFault(token.at, `"${token.value}" is a word of the language, and no name`);
    this.#next += 1;
    return token.value;
  }

  #refuseInFilter(what: string): void {
    if (this.#isFilter) throw new ExpressionFault(this.#token.at, `${what} is not offered`);
  }

  #isSign(value: string): boolean {
    return this.#token.kind === 'sign' && this.#token.value === value;
  }

  #take(value: string): boolean {
    const isIt = this.#isSign(value);
    if (isIt) this.#next += 1;
    return isIt;
  }

  #deeper(at: number, read: () => Node): Node {
    if (this.#depth === depthLimit) throw new ExpressionFault(at, `it is nested deeper than ${depthLimit} levels`);
    this.#depth += 1;
    const node = read();
    this.#depth -= 1;
    return node;
  }

  #unexpected(wanted: string): ExpressionFault {
    const { kind, value, at } = this.#token;
    const shown = value instanceof Uint ? `${value.value}u` : String(value);
    const found = kind === 'end' ? 'the end' : JSON.stringify(shown);
    return new ExpressionFault(at, `${wanted} is expected, not ${found}`);
  }
}

/** Refuses what no database takes as a text. */
function checkFilterText({ kind, value, at }: Extract<Token, { readonly kind: 'text' | 'bytes' }>): void {
  if (kind === 'bytes') throw new ExpressionFault(at, 'bytes are not offered');
  if (value.includes('\0')) throw new ExpressionFault(at, 'the text holds a NUL character');
}
