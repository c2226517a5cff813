import {
  anyOfLine,
  anything,
  characterClass,
  ignoringCase,
  joinClasses,
  perlClass,
  posixClass,
  unicodeClass,
} from './classes.ts';
import { PatternFault } from './tree.ts';
import type { CharacterClass, Tree } from './tree.ts';

const mostDepth = 50;
/** As in RE2. */
const mostRepeats = 1000;
const controls: Readonly<Record<string, number>> = { a: 7, f: 12, t: 9, n: 10, r: 13, v: 11 };

interface Flags {
  readonly ignoresCase: boolean;
  readonly isMultiline: boolean;
  readonly dotTakesAll: boolean;
  readonly isLazy: boolean;
}

export interface ParsedPattern {
  readonly tree: Tree;
  /** Names of the groups, the first of which is group 1; undefined for those without one. */
  readonly groups: readonly (string | undefined)[];
}

/** Reads a pattern in the syntax of RE2, in which nothing takes more than linear time. Throws `PatternFault`. */
export function parsePattern(source: string): ParsedPattern {
  return new Parser(source).parse();
}

class Parser {
  readonly #characters: readonly string[];
  readonly #groups: (string | undefined)[] = [];
  #at = 0;
  #depth = 0;
  #flags: Flags = { ignoresCase: false, isMultiline: false, dotTakesAll: false, isLazy: false };

  constructor(source: string) {
    this.#characters = Array.from(source);
  }

  parse(): ParsedPattern {
    const tree = this.#any();
    if (this.#at < this.#characters.length) throw new PatternFault('a ")" is not opened');
    return { tree, groups: this.#groups };
  }

  #any(): Tree {
    if (++this.#depth > mostDepth) throw new PatternFault(`its groups are deeper than ${mostDepth}`);
    const of = [this.#all()];
    while (this.#skip('|')) of.push(this.#all());
    this.#depth--;
    return of.length === 1 ? of[0]! : { kind: 'any', of };
  }

  #all(): Tree {
    const of: Tree[] = [];
    while (this.#at < this.#characters.length && this.#peek !== '|' && this.#peek !== ')') {
      if (this.#starts('\\Q')) of.push(...this.#quoted());
      else of.push(this.#repeated());
    }
    return of.length === 1 ? of[0]! : { kind: 'all', of };
  }

  #quoted(): readonly Tree[] {
    this.#at += 2;
    const of: Tree[] = [];
    while (this.#at < this.#characters.length && !this.#starts('\\E')) of.push(this.#character(this.#next()));
    if (this.#starts('\\E')) this.#at += 2;
    return of;
  }

  #repeated(): Tree {
    const of = this.#one();
    const range = this.#range();
    if (range === undefined) return of;
    const isLazy = this.#skip('?') !== this.#flags.isLazy;
    const behind = this.#peek;
    if (this.#range() !== undefined) throw new PatternFault(`"${behind}" repeats a repetition; put it in brackets`);
    if (range.most < range.least) throw new PatternFault('a repetition has its numbers the wrong way round');
    if (range.least > mostRepeats || (range.most !== Infinity && range.most > mostRepeats))
      throw new PatternFault(`a repetition goes beyond ${mostRepeats}`);
    return { kind: 'repeat', of, ...range, isLazy };
  }

  #range(): { readonly least: number; readonly most: number } | undefined {
    if (this.#skip('*')) return { least: 0, most: Infinity };
    if (this.#skip('+')) return { least: 1, most: Infinity };
    if (this.#skip('?')) return { least: 0, most: 1 };
    if (this.#peek !== '{') return undefined;
    const text = this.#characters.slice(this.#at, this.#at + 12).join('');
    // A "{" that begins no numbers is a character.
    const [whole = '', least = '', comma, most = ''] = /^\{(\d{1,4})(,)?(\d{0,4})\}/.exec(text) ?? [];
    if (whole === '' || (comma === undefined && most !== '')) return undefined;
    this.#at += whole.length;
    if (comma === undefined) return { least: Number(least), most: Number(least) };
    return { least: Number(least), most: most === '' ? Infinity : Number(most) };
  }

  #one(): Tree {
    const character = this.#next();
    const { isMultiline, dotTakesAll } = this.#flags;
    switch (character) {
      case '(':
        return this.#group();
      case '[':
        return { kind: 'take', class: this.#class() };
      case '.':
        return { kind: 'take', class: dotTakesAll ? anything : anyOfLine };
      case '^':
        return { kind: 'at', place: isMultiline ? 'lineStart' : 'textStart' };
      case '$':
        return { kind: 'at', place: isMultiline ? 'lineEnd' : 'textEnd' };
      case '\\':
        return this.#escape();
      case '*':
      case '+':
      case '?':
        throw new PatternFault(`there is nothing to repeat before "${character}"`);
      default:
        return this.#character(character);
    }
  }

  #group(): Tree {
    const before = this.#flags;
    let number = 0;
    if (this.#skip('?')) {
      if (this.#starts('P<') || this.#starts('<')) number = this.#addGroup(this.#groupName());
      else if (this.#readFlags()) return { kind: 'all', of: [] };
    } else number = this.#addGroup(undefined);
    const of = this.#any();
    if (!this.#skip(')')) throw new PatternFault('a "(" is not closed');
    this.#flags = before;
    return number === 0 ? of : { kind: 'group', of, number };
  }

  #addGroup(name: string | undefined): number {
    return this.#groups.push(name);
  }

  #groupName(): string {
    this.#at += this.#peek === 'P' ? 2 : 1;
    const end = this.#characters.indexOf('>', this.#at);
    const name = end < 0 ? '' : this.#characters.slice(this.#at, end).join('');
    if (!/^[A-Za-z_]\w{0,63}$/.test(name))
      throw new PatternFault('the name of a group is made of letters, digits and "_"');
    if (this.#groups.includes(name)) throw new PatternFault(`two groups are named ${name}`);
    this.#at = end + 1;
    return name;
  }

  /** True: they are for all that follows; else they begin a group. */
  #readFlags(): boolean {
    let isOn = true;
    for (;;) {
      const letter = this.#next();
      if (letter === ':') return false;
      if (letter === ')') return true;
      if (letter === '-') isOn = false;
      else if (letter === 'i') this.#flags = { ...this.#flags, ignoresCase: isOn };
      else if (letter === 'm') this.#flags = { ...this.#flags, isMultiline: isOn };
      else if (letter === 's') this.#flags = { ...this.#flags, dotTakesAll: isOn };
      else if (letter === 'U') this.#flags = { ...this.#flags, isLazy: isOn };
      else
        throw new PatternFault(`"(?${letter}" is not offered: it may take longer than linear time, or is not of RE2`);
    }
  }

  #escape(): Tree {
    const letter = this.#next();
    if (letter === 'A') return { kind: 'at', place: 'textStart' };
    if (letter === 'z') return { kind: 'at', place: 'textEnd' };
    if (letter === 'b') return { kind: 'at', place: 'wordEdge' };
    if (letter === 'B') return { kind: 'at', place: 'noWordEdge' };
    const known = this.#escapedClass(letter);
    return known === undefined
      ? this.#character(String.fromCodePoint(this.#escapedCode(letter)))
      : { kind: 'take', class: known };
  }

  #escapedClass(letter: string): CharacterClass | undefined {
    if (letter !== 'p' && letter !== 'P') return perlClass(letter);
    if (!this.#skip('{')) return unicodeClass(this.#next(), letter === 'P');
    const name = this.#until('}');
    return name.startsWith('^') ? unicodeClass(name.slice(1), letter === 'p') : unicodeClass(name, letter === 'P');
  }

  #escapedCode(letter: string): number {
    const control = Object.hasOwn(controls, letter) ? controls[letter] : undefined;
    if (control !== undefined) return control;
    if (letter === 'x') {
      const digits = this.#skip('{') ? this.#until('}') : `${this.#next()}${this.#next()}`;
      const code = /^[0-9a-fA-F]{1,6}$/.test(digits) ? parseInt(digits, 16) : Infinity;
      if (code > 0x10_ff_ff) throw new PatternFault(`"\\x${digits.slice(0, 10)}" is no character`);
      return code;
    }
    if (/[0-9]/.test(letter))
      throw new PatternFault(
        `"\\${letter}" refers to a group, which is not offered: it may take longer than linear time`,
      );
    if (/[A-Za-z]/.test(letter)) throw new PatternFault(`"\\${letter}" is not known`);
    return letter.codePointAt(0) ?? 0;
  }

  #class(): CharacterClass {
    const isNegated = this.#skip('^');
    const ranges: (readonly [number, number])[] = [];
    const classes: CharacterClass[] = [];
    do this.#addItem(ranges, classes);
    while (!this.#skip(']'));
    if (!this.#flags.ignoresCase) return joinClasses(ranges, classes, isNegated);
    const folded = ignoringCase(joinClasses(ranges, classes, false));
    return isNegated ? joinClasses([], [folded], true) : folded;
  }

  #addItem(ranges: (readonly [number, number])[], classes: CharacterClass[]): void {
    if (this.#starts('[:')) {
      this.#at += 2;
      classes.push(posixClass(this.#until(':')));
      if (!this.#skip(']')) throw new PatternFault('a class "[:" is not closed');
      return;
    }
    const first = this.#next();
    const letter = first === '\\' ? this.#next() : '';
    const known = first === '\\' ? this.#escapedClass(letter) : undefined;
    if (known !== undefined) {
      classes.push(known);
      return;
    }
    const low = first === '\\' ? this.#escapedCode(letter) : (first.codePointAt(0) ?? 0);
    if (this.#peek !== '-' || this.#characters[this.#at + 1] === ']') {
      ranges.push([low, low]);
      return;
    }
    this.#at++;
    const last = this.#next();
    const high = last === '\\' ? this.#escapedCode(this.#next()) : (last.codePointAt(0) ?? 0);
    if (high < low) throw new PatternFault(`"${first}-${last}" is no range`);
    ranges.push([low, high]);
  }

  #character(character: string): Tree {
    const { ignoresCase } = this.#flags;
    const taken = characterClass(character, ignoresCase);
    return ignoresCase ? { kind: 'take', class: taken } : { kind: 'take', class: taken, only: character };
  }

  #until(end: string): string {
    const to = this.#characters.indexOf(end, this.#at);
    if (to < 0) throw new PatternFault(`a "${end}" is missing`);
    const text = this.#characters.slice(this.#at, to).join('');
    this.#at = to + 1;
    return text;
  }

  get #peek(): string | undefined {
    return this.#characters[this.#at];
  }

  #next(): string {
    const character = this.#characters[this.#at++];
    if (character === undefined) throw new PatternFault('it ends too early');
    return character;
  }

  #starts(text: string): boolean {
    return Array.from(text).every((character, at) => this.#characters[this.#at + at] === character);
  }

  #skip(character: string): boolean {
    if (this.#peek !== character) return false;
    this.#at++;
    return true;
  }
}
