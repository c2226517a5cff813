import { isSecretName, isSecretParameter } from './secret-names.ts';
import { maskedText, maskPatterns } from './mask-values.ts';

const separator = /[=:>]/g;
const maxName = 64;
const maxBlanks = 4;
/** Sets of codes: a visitor may send a separator at every other place, and an expression for each character takes longer. */
const nameCharacters = codesOf('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-');
const beforeSeparator = codesOf(' \t\r\n\v\f\u00a0"\'\\');
const endOfWord = /[\s"'<>&,;]/g;
const quotes: ReadonlySet<string> = new Set(['"', "'"]);

/** Masks values of secret names in text of any kind: `name=value`, `name: value`, `<name>value`, `"name": "value"`. */
export function maskText(given: string): string {
  const text = maskPatterns(given);
  const pieces: string[] = [];
  let done = 0;
  separator.lastIndex = 0;
  for (let found = separator.exec(text); found !== null; found = separator.exec(text)) {
    const name = nameBefore(text, found.index);
    if (name === '' || !isSecretName(name)) continue;
    const [start, end] = valueBehind(text, found.index + 1);
    if (end === start) continue;
    pieces.push(text.slice(done, start), maskedText);
    done = end;
    separator.lastIndex = end;
  }
  return pieces.join('') + text.slice(done);
}

/** The word before a separator, which quotes or blanks may follow. */
function nameBefore(text: string, separatorAt: number): string {
  let end = separatorAt;
  while (end > 0 && separatorAt - end < maxBlanks && beforeSeparator.has(text.charCodeAt(end - 1))) end--;
  let start = end;
  while (start > 0 && end - start < maxName && nameCharacters.has(text.charCodeAt(start - 1))) start--;
  return text.slice(start, end);
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

/** Masks parameters of a query, without its `?`, or of a form. */
export function maskForm(text: string): string {
  return text
    .split('&')
    .map((field) => {
      const equals = field.indexOf('=');
      if (equals < 0) return maskPatterns(field);
      const name = field.slice(0, equals);
      return `${name}=${isSecretParameter(decode(name)) ? maskedText : maskValue(field.slice(equals + 1))}`;
    })
    .join('&');
}

/** A value may itself be an address or JSON with a secret in it: no part of such a one is shown. */
function maskValue(value: string): string {
  if (!/[%=:]/.test(value)) return maskPatterns(value);
  const decoded = decode(value);
  return maskText(decoded) === decoded ? maskPatterns(value) : maskedText;
}

/** Masks the parts of a form whose names are those of secrets. */
export function maskMultipart(text: string, boundary: string): string {
  return text
    .split(`--${boundary}`)
    .map((part) => {
      const end = part.indexOf('\r\n\r\n');
      if (end < 0) return maskText(part);
      const head = part.slice(0, end);
      const [, name = ''] = /[; ]name="?([^";\r\n]{0,256})/i.exec(head) ?? [];
      return isSecretParameter(name)
        ? `${head}\r\n\r\n${maskedText}\r\n`
        : `${head}\r\n\r\n${maskText(part.slice(end + 4))}`;
    })
    .join(`--${boundary}`);
}

/** Masks query and fragment of a request's target, credentials before its host, and what is a secret in its path. */
export function maskTarget(target: string): string {
  const end = target.search(/[?#]/);
  const path = end < 0 ? target : target.slice(0, end);
  const [, scheme = '', rest = path] = /^([a-z]{1,8}:\/\/)[^/@]{1,1024}@(.*)$/is.exec(path) ?? [];
  const shown = maskText(rest === path ? path : `${scheme}${maskedText}@${rest}`);
  return end < 0
    ? shown
    : shown + target.slice(end).replaceAll(/([?#])([^?#]*)/g, (_, mark: string, form: string) => mark + maskForm(form));
}

function codesOf(characters: string): ReadonlySet<number> {
  return new Set(Array.from(characters, (character) => character.charCodeAt(0)));
}

function decode(name: string): string {
  try {
    return decodeURIComponent(name.replaceAll('+', ' '));
  } catch {
    return name;
  }
}
