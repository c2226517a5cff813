import { isWord } from './classes.ts';
import { PatternFault } from './tree.ts';
import type { CharacterClass, Place, Tree } from './tree.ts';

/** One step of a compiled pattern. Numbers are steps that follow instead of the next one. */
export type Step =
  | { readonly kind: 'take'; readonly class: CharacterClass }
  | { readonly kind: 'at'; readonly place: Place }
  /** The first is preferred. */
  | { readonly kind: 'split'; readonly first: number; readonly second: number }
  | { readonly kind: 'save'; readonly slot: number }
  | { readonly kind: 'match' };

/** Writes the steps of patterns, one behind the other. */
export class Program {
  readonly steps: Step[] = [];
  readonly #most: number;
  readonly #savesGroups: boolean;
  readonly #tooLarge: string;
  /** Counted too, because a group without steps may be repeated. */
  #nodes = 0;

  /** `tooLarge` says what is wrong with a pattern for which there are not enough steps. */
  constructor(most: number, tooLarge: string, savesGroups: boolean) {
    this.#most = most;
    this.#tooLarge = tooLarge;
    this.#savesGroups = savesGroups;
  }

  /** Returns the first step of the pattern. Throws `PatternFault`. */
  add(tree: Tree): number {
    const entry = this.steps.length;
    this.#write(tree);
    this.#add({ kind: 'match' });
    return entry;
  }

  #add(step: Step): number {
    if (this.steps.length >= this.#most) throw new PatternFault(this.#tooLarge);
    return this.steps.push(step) - 1;
  }

  #write(node: Tree): void {
    if (++this.#nodes > 4 * this.#most) throw new PatternFault(this.#tooLarge);
    if (node.kind === 'take' || node.kind === 'at') this.#add(node);
    else if (node.kind === 'all') for (const each of node.of) this.#write(each);
    else if (node.kind === 'any') this.#writeAny(node.of);
    else if (node.kind === 'repeat') this.#writeRepeat(node);
    else if (node.kind === 'group') {
      if (this.#savesGroups) this.#add({ kind: 'save', slot: node.number * 2 });
      this.#write(node.of);
      if (this.#savesGroups) this.#add({ kind: 'save', slot: node.number * 2 + 1 });
    }
  }

  #writeAny(of: readonly Tree[]): void {
    const ends: number[] = [];
    of.forEach((each, at) => {
      const isLast = at === of.length - 1;
      const fork = isLast ? -1 : this.#hold();
      this.#write(each);
      if (isLast) return;
      ends.push(this.#hold());
      this.#split(fork, fork + 1, this.steps.length);
    });
    for (const end of ends) this.#split(end, this.steps.length, this.steps.length);
  }

  #writeRepeat({ of, least, most, isLazy }: Extract<Tree, { readonly kind: 'repeat' }>): void {
    for (let count = 0; count < least; count++) this.#write(of);
    const forks: number[] = [];
    for (let count = least; count < (most === Infinity ? least + 1 : most); count++) {
      forks.push(this.#hold());
      this.#write(of);
    }
    const [loop = 0] = forks;
    if (most === Infinity) this.#split(this.#hold(), loop, loop);
    const past = this.steps.length;
    for (const fork of forks) this.#split(fork, isLazy ? past : fork + 1, isLazy ? fork + 1 : past);
  }

  /** Keeps a place for a step that is known later. */
  #hold(): number {
    return this.#add({ kind: 'match' });
  }

  #split(at: number, first: number, second: number): void {
    this.steps[at] = { kind: 'split', first, second };
  }
}

/** Whether something that stands between two characters holds before the character at a place. */
export function isAt(place: Place, text: string, at: number): boolean {
  switch (place) {
    case 'textStart':
      return at === 0;
    case 'textEnd':
      return at === text.length;
    case 'lineStart':
      return at === 0 || text[at - 1] === '\n';
    case 'lineEnd':
      return at === text.length || text[at] === '\n';
    case 'wordEdge':
      return isWordEdge(text, at);
    default:
      return !isWordEdge(text, at);
  }
}

function isWordEdge(text: string, at: number): boolean {
  const isInside = (index: number) => index >= 0 && index < text.length && isWord(text.charCodeAt(index));
  return isInside(at - 1) !== isInside(at);
}
