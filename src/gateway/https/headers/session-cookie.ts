import { plainSessionCookie, secureSessionCookie, visitorCookieMark } from '../../../lib/session-cookie-names.ts';

/**
 * The start of a cookie that some reader takes for that of a dashboard session, of a sign-in to it, or of a visitor who has signed in: browsers drop
 * blanks and a leading "=", others quotes, and some read names in any case. Both names of the first end alike, so that one word
 * finds either; those of visitors have their mark in the middle.
 */
const session = new RegExp(
  `^[\\s="']*(?:(?:${secureSessionCookie}|${plainSessionCookie})(?:_login)?|[^=;]*${visitorCookieMark}[^=;]*)[\\s"']*(?:[=;]|$)`,
  'i',
);
const mention = new RegExp(`${plainSessionCookie}|${visitorCookieMark}`, 'i');

/** The value of a Cookie header without the cookies of such sessions; empty if there is nothing else. */
export function withoutSessionCookie(value: string): string {
  if (!mention.test(value)) return value;
  const kept = value.split(';').filter((pair) => !session.test(pair));
  return kept.join(';').trim();
}

/** Headers of a response without a Set-Cookie that would make a browser send another session to the dashboard. */
export function withoutSetSession(headers: readonly string[]): readonly string[] {
  for (let at = 0; at < headers.length; at += 2)
    if (setsSession(headers, at)) return headers.filter((_, index) => !setsSession(headers, index - (index % 2)));
  return headers;
}

function setsSession(headers: readonly string[], at: number): boolean {
  const name = headers[at] ?? '';
  return name.length === 10 && name.toLowerCase() === 'set-cookie' && session.test(headers[at + 1] ?? '');
}
