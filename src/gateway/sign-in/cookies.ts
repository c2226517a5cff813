import { createHash } from 'node:crypto';

import { visitorCookieMark } from '../../lib/session-cookie-names.ts';
import type { HeaderList } from '../../modules/step.ts';
import type { SignIn } from '../../modules/sign-in.ts';

/** Seconds in which a login must be finished at the provider. */
export const loginSeconds = 600;
/** Logins of one browser that may be under way, in several tabs. */
const loginLimit = 5;
/** Cookies of one name, or one kind, that are looked at: opening one costs as much as many characters. */
const pairLimit = 20;
const loginMark = `__Host-${visitorCookieMark}_login_`;
const loginNameLength = loginMark.length + 12;

const names = new WeakMap<SignIn, string>();

/** Browsers take a cookie of such a name only over TLS, for this host alone. */
export function sessionCookieName(signIn: SignIn): string {
  let name = names.get(signIn);
  if (name === undefined) {
    name = `__Host-${signIn.cookiePrefix}${visitorCookieMark}_${signIn.key.slice(0, 12)}`;
    names.set(signIn, name);
  }
  return name;
}

/** Each login has a cookie of its own, found by its state. */
export function loginCookieName(state: string): string {
  return `${loginMark}${createHash('sha256').update(state).digest('hex').slice(0, 12)}`;
}

/**
 * The values of every cookie of this name. Browsers keep such names to cookies that this host has set, but a page of a sibling
 * may write one into the value of another cookie: it begins a pair, or it is none.
 */
export function cookieValues(headers: HeaderList, name: string): readonly string[] {
  const found: string[] = [];
  for (const { line, from, to } of pairsOf(headers, name)) {
    const equals = from + name.length;
    if (equals < to && line.startsWith(name, from) && line[equals] === '=') found.push(line.slice(equals + 1, to));
    if (found.length === pairLimit) break;
  }
  return found;
}

/** Pairs of the Cookie headers that mention a text, without the blanks around them. */
function* pairsOf(headers: HeaderList, mention: string): Generator<{ line: string; from: number; to: number }> {
  for (let at = 0; at < headers.length; at += 2) {
    const header = headers[at] ?? '';
    const line = headers[at + 1] ?? '';
    if (header.length !== 6 || header.toLowerCase() !== 'cookie' || !line.includes(mention)) continue;
    for (let start = 0; start <= line.length;) {
      const stop = line.indexOf(';', start);
      const end = stop < 0 ? line.length : stop;
      let from = start;
      let to = end;
      while (from < to && isBlank(line[from])) from++;
      while (to > from && isBlank(line[to - 1])) to--;
      yield { line, from, to };
      start = end + 1;
    }
  }
}

/** Blanks of HTTP: other characters that some programs take for one may be part of another name. */
function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

export function setCookie(name: string, value: string, maxAgeSeconds: number): string {
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; Secure; HttpOnly; SameSite=Lax`;
}

/** The headers of an answer with these cookies. */
export function setCookies(cookies: readonly string[]): readonly string[] {
  return cookies.flatMap((cookie) => ['Set-Cookie', cookie]);
}

export function clearCookie(name: string): string {
  return setCookie(name, '', 0);
}

/** Names of cookies of logins that are too many: they were given up. */
export function staleLogins(headers: HeaderList): readonly string[] {
  const found: string[] = [];
  for (const { line, from, to } of pairsOf(headers, loginMark)) {
    const name = line.slice(from, Math.min(to, from + loginNameLength));
    if (isLoginName(name) && line[from + loginNameLength] === '=') found.push(name);
    if (found.length === pairLimit) break;
  }
  return found.length < loginLimit ? [] : found;
}

function isLoginName(name: string): boolean {
  return name.startsWith(loginMark) && /^[0-9a-f]{12}$/.test(name.slice(loginMark.length));
}
