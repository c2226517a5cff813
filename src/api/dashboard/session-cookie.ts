import type { IncomingHttpHeaders } from 'node:http';

import { isSecret } from '../../lib/secrets.ts';
import { plainSessionCookie, secureSessionCookie } from '../../lib/session-cookie-names.ts';

/**
 * The values that the session's cookie has: several where another program of the same host has set one of its own. Where
 * the server is known to be reached over TLS, the cookie that anyone on the network could have set counts for nothing.
 */
export function sessionCookies({ cookie }: IncomingHttpHeaders, overTls: boolean): readonly string[] {
  if (cookie === undefined) return [];
  return cookie.split(';').flatMap((pair) => {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    const value = pair.slice(at + 1).trim();
    const counts = name === secureSessionCookie || (name === plainSessionCookie && !overTls);
    return at > 0 && counts && isSecret(value) ? [value] : [];
  });
}

/** The value of Set-Cookie; without a secret, the one that removes the cookie. */
export function setSessionCookie(secret: string | undefined, maxAgeSeconds: number, overTls: boolean): string {
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${secret === undefined ? 0 : maxAgeSeconds}`;
  const name = overTls ? secureSessionCookie : plainSessionCookie;
  return `${name}=${secret ?? ''}; ${attributes}${overTls ? '; Secure' : ''}`;
}
