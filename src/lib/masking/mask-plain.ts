import type { Steps } from '../steps.ts';
import { isSecretName, isSecretParameter } from './secret-names.ts';
import { maskedText, maskPatterns } from './mask-values.ts';

const separator = /[=:>]/g;
const separatorsOfStep = 32;
const maxName = 64;
const maxBlanks = 4;
/** Sets of codes: a visitor may send a separator at every other place, and an expression for each character takes longer. */
const nameCharacters = codesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-');
const beforeSeparator = codesOf(' \t\r\n\v\f\u00a0"\'\\');
/** What stands before the name of a parameter of an address. */
const beforeParameter = codesOf('?&#');
const endOfWord = /[\s"'<>&,;]/g;
const quotes: ReadonlySet<string> = new Set(['"', "'"]);

/** Masks what `maskTextSteps` masks, but for what is encoded. */
export function* maskPlain(given: string): Steps<string> {
  const text = maskPatterns(given);
  const pieces: string[] = [];
  let done = 0;
  let count = 0;
  let from = 0;
  for (;;) {
    // Others use it while this rests.
    separator.lastIndex = from;
    const found = separator.exec(text);
    if (found === null) return pieces.join('') + text.slice(done);
    from = found.index + 1;
    if (++count % separatorsOfStep === 0) yield;
    if (!isSecretBefore(text, found.index)) continue;
    const [start, end] = valueBehind(text, from);
    if (end === start) continue;
    pieces.push(text.slice(done, start), maskedText);
    done = end;
    from = end;
  }
}

/** Whether the word before a separator, which quotes or blanks may follow, is the name of a secret. */
function isSecretBefore(text: string, separatorAt: number): boolean {
  let end = separatorAt;
  while (end > 0 && separatorAt - end < maxBlanks && beforeSeparator.has(text.charCodeAt(end - 1))) end--;
  let start = end;
  while (start > 0 && end - start < maxName && nameCharacters.has(text.charCodeAt(start - 1))) start--;
  if (start === end) return false;
  const name = text.slice(start, end);
  const isParameter = text[separatorAt] === '=' && start > 0 && beforeParameter.has(text.charCodeAt(start - 1));
  return isParameter ? isSecretParameter(name) : isSecretName(name);
}

/** Where the value behind a separator lies: what is in quotes, or a word. */
function valueBehind(text: string, from: number): readonly [start: number, end: number] {
  let start = from;
  while (start - from < maxBlanks && (text[start] === ' ' || text[start] === '\t')) start++;
  // Quotes of JSON that is itself a text have backslashes before them.
  let quoteAt = start;
  while (quoteAt - start < maxBlanks && text[quoteAt] === '\\') quoteAt++;
  const quote = text[quoteAt] ?? '';
  if (quotes.has(quote)) {
    const close = text.indexOf(quote, quoteAt + 1);
    return [start, close < 0 ? text.length : close + 1];
  }
  endOfWord.lastIndex = start;
  return [start, endOfWord.exec(text)?.index ?? text.length];
}

function codesOf(characters: string): ReadonlySet<number> {
  return new Set(Array.from(characters, (character) => character.charCodeAt(0)));
}
