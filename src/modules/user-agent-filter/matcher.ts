import { quote, UserError } from '../../errors/user-error.ts';
import { unsafePattern } from './errors.ts';
import { PatternFault, PatternParser } from './pattern.ts';
import type { Node, Table } from './pattern.ts';

/** One step of a compiled pattern. Numbers are steps that follow instead of the next one. */
type Step =
  | { readonly kind: 'take'; readonly table: Table }
  | { readonly kind: 'split'; readonly first: number; readonly second: number }
  | { readonly kind: 'start' | 'end' | 'match' };

/** Most steps of all patterns of a filter together. */
const mostSteps = 4000;
const kinds = { take: 0, split: 1, start: 2, end: 3, match: 4 } as const;
const noTable: Table = new Uint8Array();
/** Stand for a number of steps. */
const [matched, spent] = [-1, -2];

/** Shared by all matchers, as none runs while another does. Marks say behind how many characters a step was reached last. */
const marks = new Int32Array(mostSteps);
const reached = new Int32Array(mostSteps);
const takes = new Int32Array(mostSteps);

/** Steps that the patterns of a request may still take; each takes some 20 ns. */
export interface Budget {
  left: number;
}

/**
 * Finds out whether one of its patterns matches a text. All ways are followed at once (Thompson's construction), so that
 * nothing is tried twice: a character takes at most as many steps as the patterns have.
 */
export class Matcher {
  readonly #entries: readonly number[];
  readonly #kinds: Uint8Array;
  readonly #first: Int32Array;
  readonly #second: Int32Array;
  readonly #tables: readonly Table[];
  /** Steps that take the first character of a match that begins inside the text; and by its code, those that do. */
  readonly #starts: readonly number[];
  readonly #startsBy: (readonly number[] | undefined)[] = [];

  /** `taken` is the number of steps of other patterns of the filter. Throws a `UserError`. */
  constructor(sources: readonly string[], taken = 0) {
    const writer = new StepWriter(mostSteps - taken);
    this.#entries = sources.map((source) => writePattern(source, writer));
    const { steps } = writer;
    this.#kinds = Uint8Array.from(steps, ({ kind }) => kinds[kind]);
    this.#first = Int32Array.from(steps, (step) => (step.kind === 'split' ? step.first : 0));
    this.#second = Int32Array.from(steps, (step) => (step.kind === 'split' ? step.second : 0));
    this.#tables = steps.map((step) => (step.kind === 'take' ? step.table : noTable));
    marks.fill(-1);
    const count = this.#follow(this.#enter(0, 1), 1, 2, { left: mostSteps });
    this.#starts = [...takes.subarray(0, Math.max(count, 0))];
  }

  /** Number of steps of its patterns. */
  get size(): number {
    return this.#kinds.length;
  }

  /** Each character of the text is one byte. False also if the budget is spent: then nothing is left of it. */
  matches(text: string, budget: Budget): boolean {
    const end = text.length;
    marks.fill(-1, 0, this.size);
    let count = this.#follow(this.#enter(0, 0), 0, end, budget);
    for (let at = 1; at <= end && count >= 0; at++) {
      const code = text.charCodeAt(at - 1);
      let waiting = 0;
      for (let each = 0; each < count; each++) {
        const step = takes[each] ?? 0;
        if (this.#tables[step]?.[code] === 1) waiting = reach(step + 1, waiting, at);
      }
      if (at > 1) for (const step of this.#startsWith(code, budget)) waiting = reach(step + 1, waiting, at);
      if (at === end) waiting = this.#enter(waiting, at);
      count = this.#follow(waiting, at, end, budget);
    }
    return count === matched;
  }

  #enter(waiting: number, at: number): number {
    let all = waiting;
    for (const entry of this.#entries) all = reach(entry, all, at);
    return all;
  }

  /** Follows the steps that wait, behind so many characters. Returns the number of steps that take the next one. */
  #follow(waiting: number, at: number, end: number, budget: Budget): number {
    let [left, top, count] = [budget.left, waiting, 0];
    while (top > 0 && left > 0) {
      left--;
      const step = reached[--top] ?? 0;
      const kind = this.#kinds[step];
      if (kind === kinds.take) takes[count++] = step;
      else if (kind === kinds.match) [count, top] = [matched, 0];
      else if (kind === kinds.split) {
        top = reach(this.#first[step] ?? 0, top, at);
        top = reach(this.#second[step] ?? 0, top, at);
      } else if (at === (kind === kinds.start ? 0 : end)) top = reach(step + 1, top, at);
    }
    budget.left = left;
    return top > 0 ? spent : count;
  }

  #startsWith(code: number, budget: Budget): readonly number[] {
    const known = this.#startsBy[code];
    if (known !== undefined) return known;
    budget.left -= this.#starts.length;
    return (this.#startsBy[code] = this.#starts.filter((step) => this.#tables[step]?.[code] === 1));
  }
}

/** Notes that a step is reached behind so many characters, unless it was. Returns the number of those that wait. */
function reach(step: number, waiting: number, at: number): number {
  if (marks[step] === at) return waiting;
  marks[step] = at;
  reached[waiting] = step;
  return waiting + 1;
}

/** Returns the first step of the pattern. */
function writePattern(source: string, writer: StepWriter): number {
  const entry = writer.steps.length;
  try {
    writer.write(new PatternParser(source).parse());
    writer.write({ kind: 'match' });
  } catch (error) {
    if (!(error instanceof PatternFault)) throw error;
    throw new UserError(unsafePattern, { pattern: quote(source), reason: error.message });
  }
  return entry;
}

/** Writes the steps of patterns. */
class StepWriter {
  readonly steps: Step[] = [];
  readonly #most: number;
  /** Counted too, because a group without steps may be repeated. */
  #nodes = 0;

  constructor(most: number) {
    this.#most = most;
  }

  write(node: Node | { readonly kind: 'match' }): void {
    if (this.steps.length >= this.#most || ++this.#nodes > 4 * mostSteps)
      throw new PatternFault(
        `with it the patterns of the filter have more than ${mostSteps} steps together; use fewer, shorter or less repeated ones`,
      );
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
