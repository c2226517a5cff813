import { parsePattern } from './parse.ts';
import { isAt, Program } from './program.ts';
import type { Step } from './program.ts';
import type { Place, Tree } from './tree.ts';

/** Most steps of all matchers that are asked about a text together. */
const mostSteps = 4000;
const tooLarge = `with it the patterns of the filter have more than ${mostSteps} steps together; use fewer, shorter or less repeated ones`;
const kinds: Readonly<Record<Step['kind'], number>> = { take: 0, split: 1, at: 2, match: 3, save: 4 };
const noTable = new Uint8Array();
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
 * Finds out whether one of many patterns, in the syntax of RE2, matches a text of bytes. All ways are followed at once (Thompson's
 * construction), so that nothing is tried twice: a character takes at most as many steps as the patterns have.
 */
export class Matcher {
  readonly #entries: readonly number[];
  readonly #kinds: Uint8Array;
  readonly #first: Int32Array;
  readonly #second: Int32Array;
  readonly #tables: readonly Uint8Array[];
  readonly #places: readonly (Place | undefined)[];
  /**
   * Steps that take the first character of a match that begins inside the text, and by its code, those that do. Undefined where
   * such a match depends on what stands before it, so that the entries are followed at each character.
   */
  readonly #starts: readonly number[] | undefined;
  readonly #startsBy: (readonly number[] | undefined)[] = [];

  /** `taken` is the number of steps of other matchers. Throws what `faultOf` makes of a pattern that is not offered. */
  constructor(sources: readonly string[], taken: number, faultOf: (source: string, error: unknown) => unknown) {
    const program = new Program(mostSteps - taken, tooLarge, false);
    this.#entries = sources.map((source) => {
      try {
        return program.add(withoutEnds(parsePattern(source).tree));
      } catch (error) {
        throw faultOf(source, error);
      }
    });
    const { steps } = program;
    this.#kinds = Uint8Array.from(steps, ({ kind }) => kinds[kind]);
    this.#first = Int32Array.from(steps, (step) => (step.kind === 'split' ? step.first : 0));
    this.#second = Int32Array.from(steps, (step) => (step.kind === 'split' ? step.second : 0));
    this.#tables = steps.map((step) => (step.kind === 'take' ? step.class.bytes : noTable));
    this.#places = steps.map((step) => (step.kind === 'at' ? step.place : undefined));
    if (this.#places.some((place) => place !== undefined && place !== 'textStart' && place !== 'textEnd')) return;
    marks.fill(-1);
    const count = this.#follow(this.#enter(0, 1), 1, 'xx', { left: mostSteps });
    this.#starts = [...takes.subarray(0, Math.max(count, 0))];
  }

  /** Number of steps of its patterns. */
  get size(): number {
    return this.#kinds.length;
  }

  /** Each character of the text is one byte. False also if the budget is spent: then nothing is left of it. */
  matches(text: string, budget: Budget): boolean {
    const end = text.length;
    const starts = this.#starts;
    marks.fill(-1, 0, this.size);
    let count = this.#follow(this.#enter(0, 0), 0, text, budget);
    for (let at = 1; at <= end && count >= 0; at++) {
      const code = text.charCodeAt(at - 1);
      let waiting = 0;
      for (let each = 0; each < count; each++) {
        const step = takes[each] ?? 0;
        if (this.#tables[step]?.[code] === 1) waiting = reach(step + 1, waiting, at);
      }
      if (at > 1 && starts !== undefined)
        for (const step of this.#startsWith(code, starts, budget)) waiting = reach(step + 1, waiting, at);
      if (at === end || starts === undefined) waiting = this.#enter(waiting, at);
      count = this.#follow(waiting, at, text, budget);
    }
    return count === matched;
  }

  #enter(waiting: number, at: number): number {
    let all = waiting;
    for (const entry of this.#entries) all = reach(entry, all, at);
    return all;
  }

  /** Follows the steps that wait, behind so many characters. Returns the number of steps that take the next one. */
  #follow(waiting: number, at: number, text: string, budget: Budget): number {
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
      } else if (isAt(this.#places[step] ?? 'textEnd', text, at)) top = reach(step + 1, top, at);
    }
    budget.left = left;
    return top > 0 ? spent : count;
  }

  #startsWith(code: number, starts: readonly number[], budget: Budget): readonly number[] {
    const known = this.#startsBy[code];
    if (known !== undefined) return known;
    budget.left -= starts.length;
    return (this.#startsBy[code] = starts.filter((step) => this.#tables[step]?.[code] === 1));
  }
}

/** Notes that a step is reached behind so many characters, unless it was. Returns the number of those that wait. */
function reach(step: number, waiting: number, at: number): number {
  if (marks[step] === at) return waiting;
  marks[step] = at;
  reached[waiting] = step;
  return waiting + 1;
}

/** A match may begin and end anywhere, so that what may be missing at either end is left out. */
function withoutEnds(tree: Tree): Tree {
  if (tree.kind === 'any') return { kind: 'any', of: tree.of.map(withoutEnds) };
  const of = tree.kind === 'all' ? tree.of : [tree];
  return { kind: 'all', of: of.slice(of.findIndex(isNeeded), of.findLastIndex(isNeeded) + 1) };
}

/** Flags are read by then, and have left an empty part. */
function isNeeded(tree: Tree): boolean {
  return tree.kind === 'repeat' ? tree.least > 0 : tree.kind !== 'all' || tree.of.length > 0;
}
