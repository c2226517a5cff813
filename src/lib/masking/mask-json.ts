import type { Steps } from '../steps.ts';
import { isSecretName } from './secret-names.ts';
import { maskTextSteps } from './mask-text.ts';
import { maskedText, maskPatterns } from './mask-values.ts';

/** Names whose value is itself the name of a field, as in `{"name": "password", "value": "…"}`. */
const namingKeys: ReadonlySet<string> = new Set(['name', 'key', 'field', 'id', 'type', 'header']);
/** Tokens that one step masks; none but a long text takes longer than some ten microseconds. */
const tokensOfStep = 32;
const blank = new Set([' ', '\t', '\r', '\n']);
const plainEnd = new Set([...blank, ',', ':', '"', '{', '}', '[', ']']);

/**
 * Masks values of secret names in JSON, and whatever has the form of a secret. Reads text, not values, so that the rest stays
 * as it was, and text that was cut off or is no JSON at all is masked as far as it looks like it.
 */
export function* maskJsonSteps(text: string): Steps<string> {
  const pieces: string[] = [];
  /** Depth of the object or list that is masked whole; undefined: none. */
  let maskedFrom: number | undefined;
  let depth = 0;
  let key = '';
  /** True from a secret name to the end of its value. */
  let isSecret = false;
  /** Depth of the object one of whose values was a secret name; what follows in it is masked, however deep. */
  let namedAt: number | undefined;
  let at = 0;
  const masks = (): boolean => isSecret || maskedFrom !== undefined || namedAt !== undefined;
  let count = 0;
  while (at < text.length) {
    if (++count % tokensOfStep === 0) yield;
    const character = text[at] ?? '';
    if (character === '"') {
      const end = endOfString(text, at);
      const token = text.slice(at, end);
      at = end;
      if (text[skipBlanks(text, end)] === ':') {
        const name = decode(token);
        key = name.toLowerCase();
        isSecret = isSecretName(name);
        pieces.push(maskPatterns(token));
        continue;
      }
      pieces.push(masks() ? `"${maskedText}"` : yield* maskString(token));
      if (namingKeys.has(key) && isSecretName(decode(token))) namedAt ??= depth;
      continue;
    }
    if (!plainEnd.has(character)) {
      const start = at;
      while (at < text.length && !plainEnd.has(text[at] ?? '')) at++;
      const token = text.slice(start, at);
      pieces.push(masks() && token !== 'null' ? `"${maskedText}"` : maskPatterns(token));
      continue;
    }
    const structureAt = at;
    if (character === '{' || character === '[') {
      depth++;
      if (isSecret && maskedFrom === undefined) maskedFrom = depth;
      isSecret = false;
      key = '';
    } else if (character === '}' || character === ']') {
      if (maskedFrom === depth) maskedFrom = undefined;
      if (namedAt === depth) namedAt = undefined;
      depth--;
      isSecret = false;
      key = '';
    } else if (character === ',') {
      isSecret = false;
      key = '';
    }
    at++;
    while (blank.has(text[at] ?? '')) at++;
    pieces.push(text.slice(structureAt, at));
  }
  return pieces.join('');
}

/** Masks what is in a text: it may be a query, or JSON itself. */
function* maskString(token: string): Steps<string> {
  const close = token.length > 1 && token.endsWith('"') ? '"' : '';
  return `"${yield* maskTextSteps(token.slice(1, token.length - close.length))}${close}`;
}

function endOfString(text: string, start: number): number {
  for (let at = start + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function skipBlanks(text: string, start: number): number {
  let at = start;
  while (blank.has(text[at] ?? '')) at++;
  return at;
}

function decode(token: string): string {
  if (!token.includes('\\')) return token.slice(1, -1);
  try {
    return String(JSON.parse(token));
  } catch {
    return token;
  }
}
