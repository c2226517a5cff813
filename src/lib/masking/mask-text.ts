import { finishNow } from '../steps.ts';
import type { Steps } from '../steps.ts';
import { hidesSecret, isSecretField } from './encoded-secrets.ts';
import { maskPlain } from './mask-plain.ts';
import { maskedText, maskPatterns } from './mask-values.ts';

/** Pieces of a text that one step masks; none takes longer than some ten microseconds. */
const piecesOfStep = 32;
const words = /[^\s"'<>,;&]+/g;

/**
 * Masks values of secret names in text of any kind: `name=value`, `name: value`, `<name>value`, `"name": "value"`, also where a word
 * of it is encoded as URLs are.
 */
export function* maskTextSteps(given: string): Steps<string> {
  const text = yield* maskPlain(given);
  if (!text.includes('%')) return text;
  const pieces: string[] = [];
  let done = 0;
  let count = 0;
  for (const { 0: word, index } of text.matchAll(words)) {
    if (++count % piecesOfStep === 0) yield;
    if (!word.includes('%') || !(yield* hidesSecret(word))) continue;
    pieces.push(text.slice(done, index), maskedText);
    done = index + word.length;
  }
  return pieces.join('') + text.slice(done);
}

/** Masks parameters of a query, without its `?`, or of a form. */
export function* maskFormSteps(text: string): Steps<string> {
  const masked: string[] = [];
  for (const field of text.split('&')) {
    if (masked.length % piecesOfStep === 0) yield;
    const equals = field.indexOf('=');
    const name = field.slice(0, equals);
    if (equals < 0) masked.push(maskPatterns(field));
    else if (isSecretField(name)) masked.push(`${name}=${maskedText}`);
    else masked.push(`${name}=${yield* maskValue(field.slice(equals + 1))}`);
  }
  return masked.join('&');
}

/** A value may itself be an address or JSON with a secret in it: no part of such a one is shown. */
function* maskValue(value: string): Steps<string> {
  if (!/[%=:]/.test(value)) return maskPatterns(value);
  return (yield* hidesSecret(value)) ? maskedText : maskPatterns(value);
}

/** Masks the parts of a form whose names are those of secrets. */
export function* maskMultipartSteps(text: string, boundary: string): Steps<string> {
  const masked: string[] = [];
  for (const part of text.split(`--${boundary}`)) {
    if (masked.length % piecesOfStep === 0) yield;
    const end = part.indexOf('\r\n\r\n');
    const head = part.slice(0, end);
    const [, name = ''] = /[; ]name="?([^";\r\n]{0,256})/i.exec(head) ?? [];
    if (end < 0) masked.push(yield* maskTextSteps(part));
    else if (isSecretField(name)) masked.push(`${head}\r\n\r\n${maskedText}\r\n`);
    else masked.push(`${head}\r\n\r\n${yield* maskTextSteps(part.slice(end + 4))}`);
  }
  return masked.join(`--${boundary}`);
}

/** Masks query and fragment of a request's target, credentials before its host, and what is a secret in its path. */
export function maskTarget(target: string): string {
  return finishNow(maskTargetSteps(target));
}

export function* maskTargetSteps(target: string): Steps<string> {
  const end = target.search(/[?#]/);
  const path = end < 0 ? target : target.slice(0, end);
  const [, scheme = '', rest = path] = /^([a-z]{1,8}:\/\/)[^/@]{1,1024}@(.*)$/is.exec(path) ?? [];
  const pieces = [yield* maskTextSteps(rest === path ? path : `${scheme}${maskedText}@${rest}`)];
  if (end >= 0)
    for (const [, mark = '', form = ''] of target.slice(end).matchAll(/([?#])([^?#]*)/g))
      pieces.push(mark, yield* maskFormSteps(form));
  return pieces.join('');
}
