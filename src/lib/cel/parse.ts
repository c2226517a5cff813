import { ExpressionFault } from './syntax-fault.ts';
import { tokenize } from './tokens.ts';
import type { Token } from './tokens.ts';

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';

/** A parsed expression. `at` is its place in the text, counted from 1. */
export type Node = { readonly at: number } & (
  | { readonly kind: 'literal'; readonly value: string | number | boolean | null }
  | { readonly kind: 'list'; readonly items: readonly Node[] }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'member'; readonly of: Node; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly of: Node | undefined; readonly items: readonly Node[] }
  | { readonly kind: 'not'; readonly of: Node }
  | { readonly kind: 'compare'; readonly operator: Comparison; readonly left: Node; readonly right: Node }
  | { readonly kind: 'in'; readonly left: Node; readonly right: Node }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Node[] }
);

/** Levels of brackets and negations. Code that walks a tree may call itself for each. */
export const depthLimit = 32;

const comparisons: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
const constants: ReadonlyMap<string, boolean | null> = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

/** Parses the subset of CEL that lists are filtered by. Throws `ExpressionFault`. */
export function parseExpression(source: string): Node {
  const parser = new Parser(tokenize(source));
  return parser.parse();
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Node {
    if (this.#tokens.length === 1) throw new ExpressionFault(1, 'it is empty');
    const node = this.#either();
    if (this.#token.kind !== 'end') throw this.#unexpected('the end');
    return node;
  }

  get #token(): Token {
    // The end is never passed.
    return this.#tokens[this.#next] as Token;
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
    const left = this.#unary();
    const { kind, value, at } = this.#token;
    if (kind === 'name' && value === 'in') {
      this.#next += 1;
      return { kind: 'in', left, right: this.#unary(), at };
    }
    if (kind !== 'sign' || !comparisons.has(value)) return left;
    this.#next += 1;
    const right = this.#unary();
    const chained = this.#token;
    if (chained.kind === 'sign' && comparisons.has(chained.value)) {
      throw new ExpressionFault(chained.at, 'a comparison cannot follow another; join them with "&&"');
    }
    // The set holds these operators alone.
    return { kind: 'compare', operator: value as Comparison, left, right, at };
  }

  #unary(): Node {
    const { at } = this.#token;
    if (!this.#take('!')) return this.#member();
    return this.#deeper(at, () => ({ kind: 'not', of: this.#unary(), at }));
  }

  #member(): Node {
    let node = this.#primary();
    for (;;) {
      if (this.#isSign('[')) throw new ExpressionFault(this.#token.at, 'access by index is not offered');
      if (!this.#take('.')) return node;
      const { at } = this.#token;
      const name = this.#name();
      node = this.#isSign('(')
        ? { kind: 'call', name, of: node, items: this.#items('(', ')'), at }
        : { kind: 'member', of: node, name, at };
    }
  }

  #primary(): Node {
    const token = this.#token;
    const { at } = token;
    if (token.kind === 'text' || token.kind === 'number') {
      this.#next += 1;
      return { kind: 'literal', value: token.value, at };
    }
    if (token.kind === 'name') return this.#named();
    if (this.#isSign('[')) return { kind: 'list', items: this.#items('[', ']'), at };
    if (!this.#take('(')) throw this.#unexpected('a value');
    const inner = this.#deeper(at, () => this.#either());
    if (!this.#take(')')) throw this.#unexpected('")"');
    return inner;
  }

  #named(): Node {
    const { at } = this.#token;
    const name = this.#name();
    const constant = constants.get(name);
    if (constant !== undefined) return { kind: 'literal', value: constant, at };
    if (this.#isSign('(')) return { kind: 'call', name, of: undefined, items: this.#items('(', ')'), at };
    return { kind: 'name', name, at };
  }

  #items(open: string, close: string): readonly Node[] {
    const { at } = this.#token;
    this.#take(open);
    const items: Node[] = [];
    while (!this.#take(close)) {
      if (items.length > 0 && !this.#take(',')) throw this.#unexpected(`"," or "${close}"`);
      items.push(this.#deeper(at, () => this.#either()));
    }
    return items;
  }

  #name(): string {
    const token = this.#token;
    if (token.kind !== 'name') throw this.#unexpected('a name');
    this.#next += 1;
    return token.value;
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
    const found = kind === 'end' ? 'the end' : JSON.stringify(value);
    return new ExpressionFault(at, `${wanted} is expected, not ${found}`);
  }
}
