/** A pattern that is not offered, with the reason. */
export class PatternFault extends Error {
  override readonly name = 'PatternFault';
}

/** By the code of a character, which is one byte: 1 if it is taken. */
export type Table = Uint8Array;

export type Node =
  | { readonly kind: 'take'; readonly table: Table }
  | { readonly kind: 'start' | 'end' }
  | All
  | { readonly kind: 'any'; readonly nodes: readonly Node[] }
  | { readonly kind: 'repeat'; readonly node: Node; readonly least: number; readonly most: number };

interface All {
  readonly kind: 'all';
  readonly nodes: readonly Node[];
}

const mostDepth = 20;

const latin1 = Array.from({ length: 256 }, (_, code) => String.fromCharCode(code));
const lower = latin1.map((character) => character.toLowerCase().charCodeAt(0));
const upper = latin1.map((character) => character.toUpperCase().charCodeAt(0));

function tableOf(isTaken: (character: string) => boolean): Table {
  return Uint8Array.from(latin1, (character) => Number(isTaken(character)));
}

const anything = tableOf((character) => character !== '\n');
const classes: Readonly<Record<string, Table>> = {
  d: tableOf((character) => /[0-9]/.test(character)),
  w: tableOf((character) => /[0-9A-Za-z_]/.test(character)),
  s: tableOf((character) => /[\t-\r ]/.test(character)),
  D: tableOf((character) => /[^0-9]/.test(character)),
  W: tableOf((character) => /[^0-9A-Za-z_]/.test(character)),
  S: tableOf((character) => /[^\t-\r ]/.test(character)),
};
/** Tables of single characters, by the character: they are most of all. */
const exact = new Map<string, Table>();
const inEitherCase = new Map<string, Table>();

/** Reads a regular expression without what can make matching take more than linear time: no references, no lookaround. */
export class PatternParser {
  readonly #source: string;
  readonly #ignoresCase: boolean;
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#ignoresCase = source.startsWith('(?i)');
    this.#source = this.#ignoresCase ? source.slice(4) : source;
  }

  /** A match may begin and end anywhere, so that what may be missing at either end is left out. */
  parse(): Node {
    const ways = this.#any();
    if (this.#at < this.#source.length) throw new PatternFault('a ")" is not opened');
    const isNeeded = (node: Node) => node.kind !== 'repeat' || node.least > 0;
    const nodes = ways.nodes.map(({ nodes: parts }) => ({
      kind: 'all' as const,
      nodes: parts.slice(parts.findIndex(isNeeded), parts.findLastIndex(isNeeded) + 1),
    }));
    return { kind: 'any', nodes };
  }

  #any(): { readonly kind: 'any'; readonly nodes: readonly All[] } {
    if (++this.#depth > mostDepth) throw new PatternFault('its groups are too deep');
    const nodes = [this.#all()];
    while (this.#skip('|')) nodes.push(this.#all());
    this.#depth--;
    return { kind: 'any', nodes };
  }

  #all(): All {
    const nodes: Node[] = [];
    while (this.#at < this.#source.length && this.#peek !== '|' && this.#peek !== ')') nodes.push(this.#repeated());
    return { kind: 'all', nodes };
  }

  #repeated(): Node {
    const node = this.#one();
    const range = this.#range();
    if (range === undefined) return node;
    // Lazy repetition matches the same texts.
    this.#skip('?');
    if (node.kind === 'start' || node.kind === 'end') throw new PatternFault('an anchor is repeated');
    if (this.#range() !== undefined) throw new PatternFault('a repetition is repeated');
    return { kind: 'repeat', node, ...range };
  }

  #range(): { readonly least: number; readonly most: number } | undefined {
    if (this.#skip('*')) return { least: 0, most: Infinity };
    if (this.#skip('+')) return { least: 1, most: Infinity };
    if (this.#skip('?')) return { least: 0, most: 1 };
    const found = /^\{(\d{1,3})(,?)(\d{0,3})\}/.exec(this.#source.slice(this.#at));
    if (found === null) return undefined;
    this.#at += found[0].length;
    const least = Number(found[1]);
    if (found[2] === '') return { least, most: least };
    const most = found[3] === '' ? Infinity : Number(found[3]);
    if (most < least) throw new PatternFault('a repetition ends before it starts');
    return { least, most };
  }

  #one(): Node {
    const character = this.#next();
    if (character === '^') return { kind: 'start' };
    if (character === '$') return { kind: 'end' };
    if (character === '(') return this.#group();
    if (character === '[') return { kind: 'take', table: this.#class() };
    if (character === '.') return { kind: 'take', table: anything };
    if (character === '\\') return { kind: 'take', table: this.#escape() };
    if ('*+?{'.includes(character)) throw new PatternFault(`there is nothing to repeat before "${character}"`);
    return { kind: 'take', table: this.#literal(character) };
  }

  #group(): Node {
    if (this.#skip('?') && !this.#skip(':')) throw new PatternFault('"(?" starts something else than a group');
    const node = this.#any();
    if (!this.#skip(')')) throw new PatternFault('a "(" is not closed');
    return node;
  }

  #escape(): Table {
    const character = this.#next();
    const known = classes[character];
    if (known !== undefined) return known;
    if (/[0-9A-Za-z]/.test(character)) throw new PatternFault(`"\\${character}" is not known`);
    return this.#literal(character);
  }

  #class(): Table {
    const isNegated = this.#skip('^');
    const table = new Uint8Array(256);
    do this.#addItem(table);
    while (!this.#skip(']'));
    const folded = this.#fold(table);
    return isNegated ? folded.map((isTaken) => 1 - isTaken) : folded;
  }

  #addItem(table: Table): void {
    const first = this.#next();
    const low = first.charCodeAt(0);
    let high = low;
    if (first === '\\') {
      this.#escape().forEach((isTaken, code) => (table[code] ||= isTaken));
      return;
    }
    if (this.#peek === '-' && this.#source[this.#at + 1] !== ']') {
      this.#at++;
      const last = this.#next();
      high = last.charCodeAt(0);
      if (last === '\\' || high < low) throw new PatternFault(`"${first}-${last}" is no range`);
    }
    table.fill(1, low, high + 1);
  }

  #literal(character: string): Table {
    const tables = this.#ignoresCase ? inEitherCase : exact;
    const code = character.charCodeAt(0);
    const known = tables.get(character);
    if (known !== undefined) return known;
    const table = this.#fold(new Uint8Array(256).fill(1, code, code + 1));
    // Others are never taken, and are too many to keep.
    if (code < 256) tables.set(character, table);
    return table;
  }

  #fold(table: Table): Table {
    if (!this.#ignoresCase) return table;
    return table.map((_, code) => (table[lower[code] ?? 0] ?? 0) | (table[upper[code] ?? 0] ?? 0));
  }

  get #peek(): string | undefined {
    return this.#source[this.#at];
  }

  #next(): string {
    const character = this.#source[this.#at++];
    if (character === undefined) throw new PatternFault('it ends too early');
    return character;
  }

  #skip(character: string): boolean {
    if (this.#peek !== character) return false;
    this.#at++;
    return true;
  }
}
