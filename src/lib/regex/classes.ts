import { PatternFault } from './tree.ts';
import type { CharacterClass } from './tree.ts';

type Range = readonly [first: number, last: number];

const byteCount = 256;

/** Says whether a class takes a character, by its code point. */
export function takes({ bytes, takesOther }: CharacterClass, code: number): boolean {
  return code < byteCount ? bytes[code] === 1 : takesOther(code);
}

function classOf(takesOne: (code: number) => boolean): CharacterClass {
  return { bytes: Uint8Array.from({ length: byteCount }, (_, code) => Number(takesOne(code))), takesOther: takesOne };
}

/** Ranges of characters and classes, joined. */
export function joinClasses(
  ranges: readonly Range[],
  classes: readonly CharacterClass[],
  isNegated: boolean,
): CharacterClass {
  const bytes = new Uint8Array(byteCount);
  for (const [first, last] of ranges) bytes.fill(1, first, Math.min(last + 1, byteCount));
  for (const each of classes) for (let code = 0; code < byteCount; code++) bytes[code]! |= each.bytes[code]!;
  if (isNegated) for (let code = 0; code < byteCount; code++) bytes[code]! ^= 1;
  const takesOther = (code: number): boolean =>
    (ranges.some(([first, last]) => code >= first && code <= last) || classes.some((each) => takes(each, code))) !==
    isNegated;
  return { bytes, takesOther };
}

/** The same where upper and lower case are one. */
export function ignoringCase(given: CharacterClass): CharacterClass {
  const takesOther = (code: number): boolean => {
    if (takes(given, code)) return true;
    const character = String.fromCodePoint(code);
    const [lower, upper] = [character.toLowerCase(), character.toUpperCase()];
    return takes(given, lower.codePointAt(0) ?? code) || takes(given, upper.codePointAt(0) ?? code);
  };
  const own = given.bytes;
  const bytes = new Uint8Array(byteCount);
  for (let code = 0; code < byteCount; code++) bytes[code] = own[lowerBytes[code]!]! | own[upperBytes[code]!]!;
  for (const code of leavingBytes) bytes[code] = Number(takesOther(code));
  return { bytes, takesOther };
}

const latin1 = Array.from({ length: byteCount }, (_, code) => String.fromCharCode(code));
const uppers = latin1.map((each) => each.toUpperCase());
/** Bytes that are several characters, or another than a byte, in upper case. */
const leavingBytes = [...latin1.keys()].filter((code) => !latin1.includes(uppers[code]!));
const lowerBytes = Uint8Array.from(latin1, (each) => each.toLowerCase().charCodeAt(0));
const upperBytes = Uint8Array.from(uppers, (each, code) => (leavingBytes.includes(code) ? code : each.charCodeAt(0)));

/** Classes of single characters, which are most of all. */
const exact = new Map<string, CharacterClass>();
const inEitherCase = new Map<string, CharacterClass>();

export function characterClass(character: string, ignoresCase: boolean): CharacterClass {
  const kept = ignoresCase ? inEitherCase : exact;
  const known = kept.get(character);
  if (known !== undefined) return known;
  const code = character.codePointAt(0) ?? 0;
  const plain = joinClasses([[code, code]], [], false);
  const made = ignoresCase ? ignoringCase(plain) : plain;
  // Characters behind these are too many to keep.
  if (code < byteCount) kept.set(character, made);
  return made;
}

export const anything = joinClasses([], [], true);
export const anyOfLine = joinClasses([[10, 10]], [], true);

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

const word = joinClasses([digit, upper, lower, underscore], [], false);

export function isWord(character: number): boolean {
  return takes(word, character);
}

const perl: Readonly<Record<string, CharacterClass>> = {
  d: joinClasses([digit], [], false),
  w: word,
  s: joinClasses(perlSpaces, [], false),
  D: joinClasses([digit], [], true),
  W: joinClasses([digit, upper, lower, underscore], [], true),
  S: joinClasses(perlSpaces, [], true),
};

/** The class of an escape such as `\d`; undefined for others. */
export function perlClass(letter: string): CharacterClass | undefined {
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
export function posixClass(given: string): CharacterClass {
  const isNegated = given.startsWith('^');
  const name = isNegated ? given.slice(1) : given;
  const ranges = Object.hasOwn(posix, name) ? posix[name] : undefined;
  if (ranges === undefined) throw new PatternFault(`there is no class [:${name.slice(0, 20)}:]`);
  return joinClasses(ranges, [], isNegated);
}

/** Classes of Unicode by their names, which are some hundreds. */
const properties = new Map<string, CharacterClass>();

/** The class of characters with a property of Unicode, such as `L` or `Greek`. */
export function unicodeClass(name: string, isNegated: boolean): CharacterClass {
  const known = properties.get(`${name} ${isNegated}`);
  if (known !== undefined) return known;
  const property = propertyOf(name);
  if (property === undefined) throw new PatternFault(`there is no class \\p{${name.slice(0, 20)}}`);
  const made = classOf((each) => property.test(String.fromCodePoint(each)) !== isNegated);
  properties.set(`${name} ${isNegated}`, made);
  return made;
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
