import { quickLength, searchUnits } from '../search-units.ts';
import { takes } from './classes.ts';
import { parsePattern } from './parse.ts';
import { isAt, Program } from './program.ts';
import type { Step } from './program.ts';
import { PatternFault } from './tree.ts';
import type { Tree } from './tree.ts';

/** Most steps of a compiled pattern, and most characters of one that is written. */
const mostSteps = 2000;
const longestPattern = 2048;
const tooLarge = `it has more than ${mostSteps} steps; use fewer, shorter or less repeated parts`;

/** A match: where it begins and ends, and the texts of its groups. */
export interface Match {
  readonly start: number;
  readonly end: number;
  /** The first is the whole; undefined for a group that took no part. */
  readonly groups: readonly (string | undefined)[];
}

/** Told of the work that matching takes; it may throw to end it. */
type Spend = (units: number) => void;

/**
 * A regular expression in the syntax of RE2. All ways through it are followed at once (Pike's machine), so that its work is linear in
 * the text and in the pattern; it is told to `spend`.
 */
export class Regex {
  /** Names of the groups, the first of which is group 1. */
  readonly groupNames: readonly (string | undefined)[];
  readonly #steps: readonly Step[];
  readonly #slots: number;
  /** The text itself, where the pattern is one. */
  readonly #literal: string | undefined;

  /** Throws `PatternFault`. */
  constructor(source: string) {
    if (source.length > longestPattern) throw new PatternFault(`it is longer than ${longestPattern} characters`);
    const { tree, groups } = parsePattern(source);
    this.groupNames = groups;
    this.#slots = (groups.length + 1) * 2;
    const program = new Program(mostSteps, tooLarge, true);
    program.add(tree);
    this.#steps = program.steps;
    this.#literal = literalOf(tree);
  }

  /** Number of its steps, each of which takes room as long as it is kept. */
  get size(): number {
    return this.#steps.length;
  }

  /** True where it matches anywhere in the text. */
  test(text: string, spend: Spend): boolean {
    if (this.#literal === undefined) return this.find(text, 0, spend, false) !== undefined;
    spend(searchUnits(text, this.#literal));
    return text.includes(this.#literal);
  }

  /** The leftmost match at a place or behind it, looked for in steps: each call of `next` goes on for so many units of work. */
  *search(text: string, from: number, spend: Spend, unitsAtOnce: number): Generator<undefined, Match | undefined> {
    if (this.#literal !== undefined && this.#literal.length <= quickLength) {
      const start = text.indexOf(this.#literal, from);
      spend(12 + ((start < 0 ? text.length : start) - from) / 64);
      return start < 0 ? undefined : { start, end: start + this.#literal.length, groups: [this.#literal] };
    }
    const machine = new Machine(this.#steps, text, this.#slots, spend, from);
    while (!machine.advance(unitsAtOnce)) yield undefined;
    return this.#matchOf(text, this.#slots, machine.found);
  }

  /** The leftmost match at a place or behind it. `withGroups`: false where nobody asks for its groups. */
  find(text: string, from: number, spend: Spend, withGroups = true): Match | undefined {
    const slots = withGroups ? this.#slots : 2;
    const machine = new Machine(this.#steps, text, slots, spend, from);
    machine.advance(Infinity);
    return this.#matchOf(text, slots, machine.found);
  }

  #matchOf(text: string, slots: number, saved: readonly number[] | undefined): Match | undefined {
    if (saved === undefined) return undefined;
    const [start = 0, end = 0] = saved;
    const groups = Array.from({ length: slots / 2 }, (_, group) => {
      const [first = -1, last = -1] = [saved[group * 2], saved[group * 2 + 1]];
      return first < 0 || last < 0 ? undefined : text.slice(first, last);
    });
    return { start, end, groups };
  }

  /** All matches, one behind the other. */
  findAll(text: string, spend: Spend, most = Infinity): readonly Match[] {
    const matches: Match[] = [];
    let from = 0;
    while (from <= text.length && matches.length < most) {
      const match = this.find(text, from, spend);
      if (match === undefined) break;
      // An empty match right behind another one is a part of it.
      const isRest = match.start === match.end && match.start === matches.at(-1)?.end;
      if (!isRest) matches.push(match);
      from = match.end > match.start ? match.end : match.end + widthAt(text, match.end);
    }
    return matches;
  }
}

/** Characters of JavaScript that the one at a place takes. */
function widthAt(text: string, at: number): number {
  return (text.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1;
}

function literalOf(tree: Tree): string | undefined {
  const parts = tree.kind === 'all' ? tree.of : [tree];
  const texts = parts.flatMap((part) => (part.kind === 'take' && part.only !== undefined ? [part.only] : []));
  return texts.length === parts.length ? texts.join('') : undefined;
}

/** A step takes longer than a unit. */
const stepUnits = 2;

/** A way through the steps, and what it has saved. */
interface Thread {
  readonly step: number;
  readonly saved: readonly number[];
}

/** One search. */
class Machine {
  readonly #steps: readonly Step[];
  readonly #text: string;
  readonly #slots: number;
  readonly #spend: Spend;
  /** By step, the place at which it was reached last. */
  readonly #reached: Int32Array;
  readonly #none: readonly number[];
  #threads: Thread[] = [];
  #at: number;
  #work = 0;
  /** Units of this call, as far as they have been paid. */
  #paid = 0;
  /** What the leftmost match has saved, once the search has ended. */
  found: readonly number[] | undefined;

  constructor(steps: readonly Step[], text: string, slots: number, spend: Spend, from: number) {
    this.#steps = steps;
    this.#text = text;
    this.#slots = slots;
    this.#spend = spend;
    this.#reached = new Int32Array(steps.length).fill(-1);
    this.#none = Array.from({ length: slots }, () => -1);
    this.#at = from;
    spend(12 + steps.length / 64);
  }

  /** Looks on for so many units of work. True: the search has ended. */
  advance(units: number): boolean {
    const none = this.#none;
    let { found } = this;
    let threads = this.#threads;
    let at = this.#at;
    this.#paid = 0;
    while (this.#paid < units) {
      if (found === undefined) {
        this.#pay(this.#slots / 8);
        this.#follow(0, none.with(0, at), at, threads);
      }
      const code = this.#text.codePointAt(at);
      if (threads.length === 0 && (found !== undefined || code === undefined)) return this.#end(found);
      const width = code !== undefined && code > 0xff_ff ? 2 : 1;
      const following: Thread[] = [];
      for (const { step: index, saved } of threads) {
        const step = this.#steps[index];
        if (step?.kind === 'match') {
          found = saved.with(1, at);
          // Ways behind this one are less preferred.
          break;
        }
        if (step?.kind === 'take' && code !== undefined && takes(step.class, code))
          this.#follow(index + 1, saved, at + width, following);
      }
      this.#pay(threads.length + 1);
      threads = following;
      if (code === undefined) return this.#end(found);
      at += width;
    }
    this.found = found;
    this.#threads = threads;
    this.#at = at;
    return false;
  }

  #end(found: readonly number[] | undefined): true {
    this.found = found;
    this.#spend(this.#work * stepUnits);
    return true;
  }

  #pay(units: number): void {
    this.#work += units;
    if (this.#work < 256) return;
    this.#spend(this.#work * stepUnits);
    this.#paid += this.#work * stepUnits;
    this.#work = 0;
  }

  /** Adds the steps that are reached without a character, in the order of their preference. */
  #follow(entry: number, given: readonly number[], at: number, threads: Thread[]): void {
    const left: Thread[] = [{ step: entry, saved: given }];
    for (let count = 1; ; count++) {
      const thread = left.pop();
      if (thread === undefined) {
        this.#pay(count);
        return;
      }
      const { step: index, saved } = thread;
      if (this.#reached[index] === at) continue;
      this.#reached[index] = at;
      const step = this.#steps[index];
      if (step?.kind === 'split') {
        left.push({ step: step.second, saved }, { step: step.first, saved });
      } else if (step?.kind === 'save') {
        const isKept = step.slot < this.#slots;
        if (isKept) this.#pay(this.#slots / 4);
        left.push({ step: index + 1, saved: isKept ? saved.with(step.slot, at) : saved });
      } else if (step?.kind === 'at') {
        if (isAt(step.place, this.#text, at)) left.push({ step: index + 1, saved });
      } else threads.push(thread);
    }
  }
}

export { PatternFault };
