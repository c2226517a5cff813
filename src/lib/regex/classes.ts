import { PatternFault } from './tree.ts';
import type { CharacterTest } from './tree.ts';

type Range = readonly [first: number, last: number];

/** Ranges of characters and tests, joined. */
export function testOf(ranges: readonly Range[], tests: readonly CharacterTest[], isNegated: boolean): CharacterTest {
  const ascii = Uint8Array.from({ length: 128 }, (_, code) => Number(isIn(code, ranges, tests) !== isNegated));
  return (code) => (code < 128 ? ascii[code] === 1 : isIn(code, ranges, tests) !== isNegated);
}

function isIn(code: number, ranges: readonly Range[], tests: readonly CharacterTest[]): boolean {
  for (const [first, last] of ranges) if (code >= first && code <= last) return true;
  for (const test of tests) if (test(code)) return true;
  return false;
}

/** The same where upper and lower case are one. */
export function ignoringCase(test: CharacterTest): CharacterTest {
  const either: CharacterTest = (code) => {
    if (test(code)) return true;
    const character = String.fromCodePoint(code);
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
    return test(lower.codePointAt(0) ?? code) || test(upper.codePointAt(0) ?? code);
  };
  const ascii = Uint8Array.from({ length: 128 }, (_, code) => Number(either(code)));
  return (code) => (code < 128 ? ascii[code] === 1 : either(code));
}

const code = (character: string): number => character.charCodeAt(0);
const digit: Range = [code('0'), code('9')];
const upper: Range = [code('A'), code('Z')];
const lower: Range = [code('a'), code('z')];
const underscore: Range = [code('_'), code('_')];
const perlSpaces: readonly Range[] = [
  [9, 10],
  [12, 13],
  [32, 32],
];

export const isWord = testOf([digit, upper, lower, underscore], [], false);

const perl: Readonly<Record<string, CharacterTest>> = {
  d: testOf([digit], [], false),
  w: isWord,
  s: testOf(perlSpaces, [], false),
  D: testOf([digit], [], true),
  W: testOf([digit, upper, lower, underscore], [], true),
  S: testOf(perlSpaces, [], true),
};

/** The class of an escape such as `\d`; undefined for others. */
export function perlClass(letter: string): CharacterTest | undefined {
  return Object.hasOwn(perl, letter) ? perl[letter] : undefined;
}

const posix: Readonly<Record<string, readonly Range[]>> = {
  alnum: [digit, upper, lower],
  alpha: [upper, lower],
  ascii: [[0, 127]],
  blank: [
    [9, 9],
    [32, 32],
  ],
  cntrl: [
    [0, 31],
    [127, 127],
  ],
  digit: [digit],
  graph: [[33, 126]],
  lower: [lower],
  print: [[32, 126]],
  punct: [
    [33, 47],
    [58, 64],
    [91, 96],
    [123, 126],
  ],
  space: [
    [9, 13],
    [32, 32],
  ],
  upper: [upper],
  word: [digit, upper, lower, underscore],
  xdigit: [digit, [code('A'), code('F')], [code('a'), code('f')]],
};

/** The class of a name such as `alpha` or `^alpha`. */
export function posixClass(given: string): CharacterTest {
  const isNegated = given.startsWith('^');
  const name = isNegated ? given.slice(1) : given;
  const ranges = Object.hasOwn(posix, name) ? posix[name] : undefined;
  if (ranges === undefined) throw new PatternFault(`there is no class [:${name.slice(0, 20)}:]`);
  return testOf(ranges, [], isNegated);
}

/** The class of characters with a property of Unicode, such as `L` or `Greek`. */
export function unicodeClass(name: string, isNegated: boolean): CharacterTest {
  const property = propertyOf(name);
  if (property === undefined) throw new PatternFault(`there is no class \\p{${name.slice(0, 20)}}`);
  return (each) => property.test(String.fromCodePoint(each)) !== isNegated;
}

function propertyOf(name: string): RegExp | undefined {
  if (!/^\w{1,40}$/.test(name)) return undefined;
  for (const form of [name, `Script=${name}`]) {
    try {
      return new RegExp(`^\\p{${form}}$`, 'u');
    } catch {
      // The next form is tried.
    }
  }
  return undefined;
}
