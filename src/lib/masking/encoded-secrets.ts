import type { Steps } from '../steps.ts';
import { maskPlain } from './mask-plain.ts';
import { shortestSecret } from './mask-values.ts';
import { isSecretParameter } from './secret-names.ts';

/** How often a text may be encoded over another; one that is encoded once more hides whatever is in it. */
const deepest = 4;
const parametersOfStep = 32;
const longestName = 256;
/** Characters that are looked at in one step, with others. */
const longestAtOnce = 1000;

/** Whether a secret stands in a text of an address, however it is encoded. True also for one that cannot be told. */
export function* hidesSecret(given: string): Steps<boolean> {
  let text = given;
  for (let depth = 0; depth <= deepest; depth++) {
    const decoded = decodeOnce(text);
    if (decoded.length > longestAtOnce) yield;
    const isLooked = decoded.length >= shortestSecret || /[=:>]/.test(decoded);
    if (isLooked && ((yield* maskPlain(decoded)) !== decoded || (yield* namesSecret(decoded)))) return true;
    if (decoded === text) return false;
    text = decoded;
  }
  return text !== decodeOnce(text);
}

/** Whether the name of a field of a form, as it was sent, is that of a secret. */
export function isSecretField(name: string): boolean {
  let text = name.slice(0, longestName) + name.slice(longestName).slice(-longestName);
  for (let depth = 0; depth <= deepest; depth++) {
    if (isSecretParameter(text)) return true;
    const decoded = decodeOnce(text);
    if (decoded === text) return false;
    text = decoded;
  }
  return true;
}

function* namesSecret(text: string): Steps<boolean> {
  let count = 0;
  for (const [parameter] of text.matchAll(/[^?&#;]+/g)) {
    if (++count % parametersOfStep === 0) yield;
    const equals = parameter.indexOf('=');
    if (equals > 0 && equals <= longestName && isSecretParameter(parameter.slice(0, equals))) return true;
  }
  return false;
}

/** Each byte becomes a character of its own: names of secrets have no others, and bytes that are no UTF-8 hide nothing around them. */
function decodeOnce(text: string): string {
  if (!/[%+]/.test(text)) return text;
  return text
    .replaceAll('+', ' ')
    .replaceAll(/%([0-9A-Fa-f]{2})/g, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)));
}
