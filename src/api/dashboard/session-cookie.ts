import type { IncomingHttpHeaders } from 'node:http';

const plainName = 'gatehouse_session';
/** Browsers take a cookie of this name only over TLS, for this host alone. */
const secureName = `__Host-${plainName}`;
const form = /^[0-9A-Za-z]{43}$/;

/**
 * The secret of the session that the cookies name; undefined without one. Where the server is known to be reached over
 * TLS, the cookie that anyone on the network could have set counts for nothing.
 */
export function sessionCookie({ cookie }: IncomingHttpHeaders, overTls: boolean): string | undefined {
  if (cookie === undefined) return undefined;
  const values = new Map<string, string>();
  for (const pair of cookie.split(';')) {
    const at = pair.indexOf('=');
    const name = pair.slice(0, at).trim();
    // The first of two is the one with the more specific path.
    if (at > 0 && !values.has(name)) values.set(name, pair.slice(at + 1).trim());
  }
  const value = values.get(secureName) ?? (overTls ? undefined : values.get(plainName));
  return value !== undefined && form.test(value) ? value : undefined;
}

/** The value of Set-Cookie; without a secret, the one that removes the cookie. */
export function setSessionCookie(secret: string | undefined, maxAgeSeconds: number, overTls: boolean): string {
  const attributes = `Path=/; HttpOnly; SameSite=Strict; Max-Age=${secret === undefined ? 0 : maxAgeSeconds}`;
  return `${overTls ? secureName : plainName}=${secret ?? ''}; ${attributes}${overTls ? '; Secure' : ''}`;
}
