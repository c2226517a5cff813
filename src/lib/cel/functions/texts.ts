import { backwardSearchUnits, searchUnits } from '../../search-units.ts';
import { quotedText } from './quote.ts';
import { formatText } from './format.ts';
import type { Work } from '../environment.ts';
import { checkItems, checkText } from '../operators.ts';
import { mostItems } from '../run.ts';
import { int, list, listOf, string, bool } from '../types.ts';
import type { Value } from '../values.ts';
import { method, plainFunction } from './define.ts';
import type { Definition } from './define.ts';
import { countPoints, offsetOf, pointsBefore, slicePoints } from './points.ts';

/** Pays for reading a text once. */
function pay(text: string, { budget }: Work<unknown>): void {
  if (text.length > 64) budget.spend(text.length / 64);
}

/** Pays for looking at each character of a text; others than those of ASCII take far longer. */
function payForEach(text: string, { budget }: Work<unknown>): void {
  budget.spend(text.length / 64);
  budget.spend(isAscii(text) ? text.length / 8 : text.length * 2);
}

function isAscii(text: string): boolean {
  return /^[\0-\x7f]*$/.test(text);
}

/** Pays for a place in a text, which is found by counting its characters. */
function payForPlace(text: string, { budget }: Work<unknown>): void {
  if (text.length > 16) budget.spend(text.length / 8);
}

function place(index: bigint, length: number, work: Work<unknown>): number {
  if (index < 0n || index > BigInt(length))
    throw work.fault(`there is no place ${index} in a text of ${length} characters (index out of range)`);
  return Number(index);
}

function indexOf(text: string, part: string, from: bigint | undefined, work: Work<unknown>): bigint {
  payForPlace(text, work);
  work.budget.spend(searchUnits(text, part));
  const start = from === undefined ? 0 : offsetOf(text, place(from, countPoints(text), work));
  return BigInt(pointsBefore(text, text.indexOf(part, start)));
}

function lastIndexOf(text: string, part: string, from: bigint | undefined, work: Work<unknown>): bigint {
  payForPlace(text, work);
  work.budget.spend(backwardSearchUnits(text, part));
  const start = from === undefined ? Infinity : offsetOf(text, place(from, countPoints(text), work));
  return BigInt(pointsBefore(text, text.lastIndexOf(part, start)));
}

function replace(text: string, from: string, to: string, most: number, work: Work<unknown>): string {
  work.budget.spend(searchUnits(text, from) + text.length / 16);
  if (from === '') work.budget.spend(text.length * 2);
  const pieces = splitAt(text, from, most);
  work.budget.spend(pieces.length * 2);
  checkItems(pieces.length, work);
  checkText(text.length + (pieces.length - 1) * (to.length - from.length), work);
  return pieces.join(to);
}

/** Pieces between so many separators; what is behind them is one piece. */
function splitAt(text: string, separator: string, most: number): readonly string[] {
  if (separator === '') {
    // Between all characters; a replacement also stands at both ends.
    const points = Array.from(text);
    const all = ['', ...points, ''];
    return all.length - 1 <= most ? all : [...all.slice(0, most), all.slice(most).join('')];
  }
  // One more than a list may have is enough to refuse it.
  const pieces = text.split(separator, mostItems + 1);
  if (pieces.length - 1 <= most || pieces.length > mostItems) return pieces;
  return [...pieces.slice(0, most), pieces.slice(most).join(separator)];
}

function split(text: string, separator: string, most: number, work: Work<unknown>): Value {
  work.budget.spend(searchUnits(text, separator) + text.length / 16);
  if (separator === '') work.budget.spend(text.length * 2);
  const pieces = separator === '' ? Array.from(text) : text.split(separator, mostItems + 1);
  work.budget.spend(pieces.length * 2);
  checkItems(pieces.length, work);
  return most < 0 ? pieces : pieces.slice(0, most);
}

/** Without blanks of Unicode at both ends; those of JavaScript are others. */
function trimmed(text: string, { budget }: Work<unknown>): string {
  let [start, end] = [0, text.length];
  while (start < end && isBlank(text, start)) start++;
  while (end > start && isBlank(text, end - 1)) end--;
  budget.spend((text.length - end + start) * 2);
  return text.slice(start, end);
}

function isBlank(text: string, at: number): boolean {
  const code = text.charCodeAt(at);
  return code === 32 || (code >= 9 && code <= 13) || (code > 127 && /\p{White_Space}/u.test(text.charAt(at)));
}

/** Changes the letters of ASCII alone. */
function mapAscii(text: string, letters: RegExp, change: (part: string) => string): string {
  return isAscii(text) ? change(text) : text.replaceAll(letters, change);
}

const sum = (sizes: readonly number[]) => sizes.reduce((all, each) => all + each, 0);
const same = { isTotal: true as const, size: ([size = 0]: readonly number[]) => size };

export const textFunctions: readonly Definition[] = [
  method(
    'startsWith',
    [string, string],
    bool,
    ([text, start], work) => {
      pay(start, work);
      return text.startsWith(start);
    },
    { ofTexts: (text, start) => text.startsWith(start), isTotal: true },
  ),
  method(
    'endsWith',
    [string, string],
    bool,
    ([text, end], work) => {
      pay(end, work);
      return text.endsWith(end);
    },
    { ofTexts: (text, end) => text.endsWith(end), isTotal: true },
  ),
  ...['contains', 'includes'].map((name) =>
    method(
      name,
      [string, string],
      bool,
      ([text, part], work) => {
        work.budget.spend(searchUnits(text, part));
        return text.includes(part);
      },
      { isTotal: true },
    ),
  ),
  method('charAt', [string, int], string, ([text, index], work) => {
    payForPlace(text, work);
    const at = place(index, countPoints(text), work);
    return slicePoints(text, at, at + 1);
  }),
  method('indexOf', [string, string], int, ([text, part], work) => indexOf(text, part, undefined, work)),
  method('indexOf', [string, string, int], int, ([text, part, from], work) => indexOf(text, part, from, work)),
  method('lastIndexOf', [string, string], int, ([text, part], work) => lastIndexOf(text, part, undefined, work)),
  method('lastIndexOf', [string, string, int], int, ([text, part, from], work) => lastIndexOf(text, part, from, work)),
  method('split', [string], listOf(string), ([text], work) => {
    pay(text, work);
    work.budget.spend(text.length / 16);
    const pieces = text.split(/\s+/, mostItems + 2).filter((piece) => piece !== '');
    work.budget.spend(pieces.length * 2);
    checkItems(pieces.length, work);
    return pieces;
  }),
  method('split', [string, string], listOf(string), ([text, separator], work) => split(text, separator, -1, work)),
  method('split', [string, string, int], listOf(string), ([text, separator, most], work) =>
    split(text, separator, Number(most), work),
  ),
  method(
    'replace',
    [string, string, string],
    string,
    ([text, from, to], work) => replace(text, from, to, Infinity, work),
    {
      size: sum,
    },
  ),
  method(
    'replace',
    [string, string, string, int],
    string,
    ([text, from, to, most], work) => replace(text, from, to, most < 0n ? Infinity : Number(most), work),
    { size: sum },
  ),
  method('substring', [string, int], string, ([text, from], work) => {
    payForPlace(text, work);
    return slicePoints(text, place(from, countPoints(text), work), text.length);
  }),
  method('substring', [string, int, int], string, ([text, from, to], work) => {
    payForPlace(text, work);
    const length = countPoints(text);
    const [start, end] = [place(from, length, work), place(to, length, work)];
    if (start > end) throw work.fault(`a part of a text cannot begin at ${start} and end at ${end}`);
    return slicePoints(text, start, end);
  }),
  method(
    'trim',
    [string],
    string,
    ([text], work) => {
      pay(text, work);
      return trimmed(text, work);
    },
    same,
  ),
  method(
    'reverse',
    [string],
    string,
    ([text], work) => {
      pay(text, work);
      work.budget.spend(text.length * 2);
      return Array.from(text).toReversed().join('');
    },
    same,
  ),
  ...['lower', 'lowerAscii'].map((name) =>
    method(
      name,
      [string],
      string,
      ([text], work) => {
        payForEach(text, work);
        return name === 'lower' ? text.toLowerCase() : mapAscii(text, /[A-Z]+/g, (each) => each.toLowerCase());
      },
      same,
    ),
  ),
  ...['upper', 'upperAscii'].map((name) =>
    method(
      name,
      [string],
      string,
      ([text], work) => {
        payForEach(text, work);
        return name === 'upper' ? text.toUpperCase() : mapAscii(text, /[a-z]+/g, (each) => each.toUpperCase());
      },
      same,
    ),
  ),
  method('format', [string, list], string, ([text, values], work) => formatText(text, values, work)),
  plainFunction('strings.quote', [string], string, ([text], work) => {
    work.budget.spend(text.length / 2);
    checkText(text.length * 2, work);
    return quotedText(text);
  }),
];
