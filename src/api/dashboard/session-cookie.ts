import type { IncomingHttpHeaders } from 'node:http';

import { isSecret } from '../../lib/secrets.ts';
import {
  plainLoginCookie,
  plainSessionCookie,
  secureLoginCookie,
  secureSessionCookie,
} from '../../lib/session-cookie-names.ts';

/** Cookies of sign-ins that are looked at; others on the same host may have set some. */
const mostLogins = 10;

/**
 * The values that the session's cookie has: several where another program of the same host has set one of its own. Where
 * the server is known to be reached over TLS, the cookie that anyone on the network could have set counts for nothing.
 */
export function sessionCookies(headers: IncomingHttpHeaders, overTls: boolean): readonly string[] {
  return valuesOf(headers, secureSessionCookie, overTls ? undefined : plainSessionCookie).filter(isSecret);
}

/** Cookies of a request for sign-ins that are under way. */
export function loginCookies(headers: IncomingHttpHeaders, overTls: boolean): readonly string[] {
  // Opening one costs a look at the database.
  return valuesOf(headers, secureLoginCookie, overTls ? undefined : plainLoginCookie).slice(0, mostLogins);
}

function valuesOf({ cookie }: IncomingHttpHeaders, secure: string, plain: string | undefined): readonly string[] {
  if (cookie === undefined) return [];
  return cookie.split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    return at > 0 && (name === secure || name === plain) ? [pair.slice(at + 1).trim()] : [];
  });
}

/** The value of Set-Cookie; without a secret, the one that removes the cookie. */
export function setSessionCookie(secret: string | undefined, maxAgeSeconds: number, overTls: boolean): string {
  return setCookie(overTls ? secureSessionCookie : plainSessionCookie, secret, maxAgeSeconds, overTls);
}

/** Cookie of a sign-in that is under way. Only the dashboard's own pages send it, after the provider has led back to them. */
export function setLoginCookie(sealed: string | undefined, maxAgeSeconds: number, overTls: boolean): string {
  return setCookie(overTls ? secureLoginCookie : plainLoginCookie, sealed, maxAgeSeconds, overTls);
}

function setCookie(name: string, value: string | undefined, maxAgeSeconds: number, overTls: boolean): string {
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${value === undefined ? 0 : maxAgeSeconds}`;
  return `${name}=${value ?? ''}; ${attributes}${overTls ? '; Secure' : ''}`;
}
