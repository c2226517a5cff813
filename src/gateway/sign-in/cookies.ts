import { createHash } from 'node:crypto';

import { visitorCookieMark } from '../../lib/session-cookie-names.ts';
import type { HeaderList } from '../../modules/module.ts';
import type { SignIn } from '../../modules/sign-in.ts';

/** Seconds in which a login must be finished at the provider. */
export const loginSeconds = 600;
/** Logins of one browser that may be under way, in several tabs. */
const loginLimit = 5;
const loginMark = `__Host-${visitorCookieMark}_login_`;

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

/** The value of the first cookie of this name. */
export function readCookie(headers: HeaderList, name: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) {
    const header = headers[at] ?? '';
    if (header.length !== 6 || header.toLowerCase() !== 'cookie') continue;
    const line = headers[at + 1] ?? '';
    for (let from = line.indexOf(name); from >= 0; from = line.indexOf(name, from + 1)) {
      const end = from + name.length;
      const before = line[from - 1];
      if (line[end] !== '=' || (from > 0 && before !== ' ' && before !== ';')) continue;
      const stop = line.indexOf(';', end);
      return line.slice(end + 1, stop < 0 ? line.length : stop).trim();
    }
  }
  return undefined;
}

export function setCookie(name: string, value: string, maxAgeSeconds: number): string {
  return `${name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; Secure; HttpOnly; SameSite=Lax`;
}

export function clearCookie(name: string): string {
  return setCookie(name, '', 0);
}

/** Names of cookies of logins that are too many: they were given up. */
export function staleLogins(headers: HeaderList): readonly string[] {
  const found: string[] = [];
  for (let at = 0; at < headers.length; at += 2) {
    if (headers[at]?.toLowerCase() !== 'cookie') continue;
    for (const pair of headers[at + 1]?.split(';') ?? []) {
      const name = pair.slice(0, Math.max(0, pair.indexOf('='))).trim();
      if (name.startsWith(loginMark)) found.push(name);
    }
  }
  return found.length < loginLimit ? [] : found;
}
