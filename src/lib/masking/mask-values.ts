import { maskTokens } from '../mask-tokens.ts';

/** Stands in place of a secret. */
export const maskedText = '[masked]';

const schemeValue = /\b(bearer|basic|digest|token) {1,4}[A-Za-z0-9._~+/=-]{6,}/gi;
/** A run of characters of tokens; every character is looked at a bounded number of times. */
const run = /[A-Za-z0-9_.+~-]{16,}={0,2}/g;
const tokenStarts: readonly string[] = [
  'eyJ',
  'sk-',
  'sk_live_',
  'sk_test_',
  'rk_live_',
  'rk_test_',
  'whsec_',
  'ghp_',
  'gho_',
  'ghs_',
  'ghu_',
  'github_pat_',
  'glpat-',
  'xoxa-',
  'xoxb-',
  'xoxp-',
  'xoxs-',
  'AKIA',
  'ASIA',
  'AIza',
  'ya29.',
  'npm_',
  'SG.',
];
/** Random text of this length with all kinds of characters is taken for a secret; ids are shorter, and hashes have fewer kinds. */
const randomLength = 40;
/** Shorter texts are no secret by their form alone. */
export const shortestSecret = 12;
const privateKey = /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----/;

/** Masks what has the form of a secret, wherever it stands in a text. */
export function maskPatterns(text: string): string {
  if (text.length < shortestSecret) return text;
  const plain = text.includes('-----BEGIN') ? maskPrivateKeys(text) : text;
  return maskTokens(plain)
    .replaceAll(schemeValue, (_, scheme: string) => `${scheme} ${maskedText}`)
    .replaceAll(run, (found) => (looksSecret(found) ? maskedText : found));
}

function looksSecret(text: string): boolean {
  if (tokenStarts.some((start) => text.startsWith(start))) return true;
  // Names with dots, such as hosts and files, are no random text.
  return text
    .split('.')
    .some((part) => part.length >= randomLength && /[a-z]/.test(part) && /[A-Z]/.test(part) && /[0-9]/.test(part));
}

/** Masks private keys to their end, or to the end of the text. */
function maskPrivateKeys(text: string): string {
  let rest = text;
  let masked = '';
  for (;;) {
    const found = privateKey.exec(rest);
    if (found === null) return masked + rest;
    masked += rest.slice(0, found.index) + maskedText;
    const end = rest.indexOf('-----END', found.index + found[0].length);
    const close = end < 0 ? -1 : rest.indexOf('-----', end + 8);
    if (close < 0) return masked;
    rest = rest.slice(close + 5);
  }
}
