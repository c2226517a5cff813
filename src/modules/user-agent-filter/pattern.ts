/** A pattern that is not offered, with the reason. */
export class PatternFault extends Error {
  override readonly name = 'PatternFault';
}

type Test = (code: number) => boolean;

/** One step of a compiled pattern. Numbers are steps that follow instead of the next one. */
type Step =
  | { readonly kind: 'take'; readonly test: Test }
  | { readonly kind: 'split'; readonly first: number; readonly second: number }
  | { readonly kind: 'start' | 'end' | 'match' };

type Node =
  | { readonly kind: 'take'; readonly test: Test }
  | { readonly kind: 'start' | 'end' }
  | { readonly kind: 'all'; readonly nodes: readonly Node[] }
  | { readonly kind: 'any'; readonly nodes: readonly Node[] }
  | { readonly kind: 'repeat'; readonly node: Node; readonly least: number; readonly most: number };

/** Most steps of a pattern. The time to match is at most this times the length of the text. */
const mostSteps = 500;
const mostDepth = 20;

/**
 * Compiles a regular expression without what can make matching take more than linear time: no references, no
 * lookaround. All ways are followed at once (Thompson's construction), so that nothing is tried twice.
 */
export function compilePattern(source: string): (text: string) => boolean {
  const ignoresCase = source.startsWith('(?i)');
  const node = new PatternParser(ignoresCase ? source.slice(4) : source, ignoresCase).parse();
  const writer = new StepWriter();
  writer.write(node);
  const { steps } = writer;
  steps.push({ kind: 'match' });
  return (text) => matches(steps, text);
}

function matches(steps: readonly Step[], text: string): boolean {
  let current = new Set<number>();
  for (let at = 0; at <= text.length; at++) {
    // A match may start anywhere.
    follow(steps, 0, at, text.length, current);
    if (current.has(steps.length - 1)) return true;
    const next = new Set<number>();
    for (const index of current) {
      const step = steps[index];
      if (step?.kind === 'take' && at < text.length && step.test(text.charCodeAt(at)))
        follow(steps, index + 1, at + 1, text.length, next);
    }
    current = next;
  }
  return false;
}

function follow(steps: readonly Step[], from: number, at: number, end: number, into: Set<number>): void {
  const waiting = [from];
  for (let index = waiting.pop(); index !== undefined; index = waiting.pop()) {
    if (into.has(index)) continue;
    into.add(index);
    const step = steps[index];
    if (step?.kind === 'split') waiting.push(step.second, step.first);
    if ((step?.kind === 'start' && at === 0) || (step?.kind === 'end' && at === end)) waiting.push(index + 1);
  }
}

/** Writes the steps of a pattern. */
class StepWriter {
  readonly steps: Step[] = [];
  /** Counted too, because a group without steps may be repeated. */
  #nodes = 0;

  write(node: Node): void {
    if (this.steps.length > mostSteps || ++this.#nodes > 4 * mostSteps) throw new PatternFault('it is too large');
    if (node.kind === 'all') for (const each of node.nodes) this.write(each);
    else if (node.kind === 'any') this.#any(node.nodes);
    else if (node.kind === 'repeat') this.#repeat(node);
    else this.steps.push(node);
  }

  #any([first, ...rest]: readonly Node[]): void {
    if (first === undefined) return;
    if (rest.length === 0) {
      this.write(first);
      return;
    }
    const fork = this.#hold();
    this.write(first);
    const jump = this.#hold();
    this.#split(fork, fork + 1, this.steps.length);
    this.#any(rest);
    this.#split(jump, this.steps.length, this.steps.length);
  }

  #repeat({ node, least, most }: Extract<Node, { kind: 'repeat' }>): void {
    for (let count = 0; count < least; count++) this.write(node);
    const skips: number[] = [];
    for (let count = least; count < (most === Infinity ? least + 1 : most); count++) {
      skips.push(this.#hold());
      this.write(node);
    }
    const [loop] = skips;
    if (most === Infinity && loop !== undefined) {
      const back = this.#hold();
      this.#split(back, loop, back + 1);
    }
    for (const at of skips) this.#split(at, at + 1, this.steps.length);
  }

  /** Keeps a place for a step that is known later. */
  #hold(): number {
    return this.steps.push({ kind: 'match' }) - 1;
  }

  #split(at: number, first: number, second: number): void {
    this.steps[at] = { kind: 'split', first, second };
  }
}

const isDigit: Test = (code) => code >= 48 && code <= 57;
const isWord: Test = (code) =>
  isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
const isSpace: Test = (code) => code === 32 || (code >= 9 && code <= 13);
const classes: Readonly<Record<string, Test>> = {
  d: isDigit,
  w: isWord,
  s: isSpace,
  D: (code) => !isDigit(code),
  W: (code) => !isWord(code),
  S: (code) => !isSpace(code),
};

class PatternParser {
  readonly #source: string;
  readonly #ignoresCase: boolean;
  #at = 0;
  #depth = 0;

  constructor(source: string, ignoresCase: boolean) {
    this.#source = source;
    this.#ignoresCase = ignoresCase;
  }

  parse(): Node {
    const node = this.#any();
    if (this.#at < this.#source.length) throw new PatternFault('a ")" is not opened');
    return node;
  }

  #any(): Node {
    if (++this.#depth > mostDepth) throw new PatternFault('its groups are too deep');
    const nodes = [this.#all()];
    while (this.#skip('|')) nodes.push(this.#all());
    this.#depth--;
    return { kind: 'any', nodes };
  }

  #all(): Node {
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
    if (character === '[') return { kind: 'take', test: this.#class() };
    if (character === '.') return { kind: 'take', test: (code) => code !== 10 };
    if (character === '\\') return { kind: 'take', test: this.#escape() };
    if ('*+?{'.includes(character)) throw new PatternFault(`there is nothing to repeat before "${character}"`);
    return { kind: 'take', test: this.#literal(character) };
  }

  #group(): Node {
    if (this.#skip('?') && !this.#skip(':')) throw new PatternFault('"(?" starts something else than a group');
    const node = this.#any();
    if (!this.#skip(')')) throw new PatternFault('a "(" is not closed');
    return node;
  }

  #escape(): Test {
    const character = this.#next();
    const known = classes[character];
    if (known !== undefined) return known;
    if (/[0-9A-Za-z]/.test(character)) throw new PatternFault(`"\\${character}" is not known`);
    return this.#literal(character);
  }

  #class(): Test {
    const isNegated = this.#skip('^');
    const tests: Test[] = [];
    do tests.push(this.#classItem());
    while (!this.#skip(']'));
    const isIn: Test = (code) => tests.some((test) => test(code));
    return isNegated ? (code) => !isIn(code) : isIn;
  }

  #classItem(): Test {
    const first = this.#next();
    if (first === '\\') return this.#escape();
    if (this.#peek !== '-' || this.#source[this.#at + 1] === ']') return this.#literal(first);
    this.#at++;
    const last = this.#next();
    const [low, high] = [first.charCodeAt(0), last.charCodeAt(0)];
    if (last === '\\' || high < low) throw new PatternFault(`"${first}-${last}" is no range`);
    return this.#inEitherCase((code) => code >= low && code <= high);
  }

  #literal(character: string): Test {
    const wanted = character.charCodeAt(0);
    return this.#inEitherCase((code) => code === wanted);
  }

  #inEitherCase(test: Test): Test {
    if (!this.#ignoresCase) return test;
    return (code) => {
      const text = String.fromCharCode(code);
      return test(text.toLowerCase().charCodeAt(0)) || test(text.toUpperCase().charCodeAt(0));
    };
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
