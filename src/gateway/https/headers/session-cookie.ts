import {
  plainLoginCookie,
  plainSessionCookie,
  secureLoginCookie,
  secureSessionCookie,
  visitorCookieMark,
} from '../../../lib/session-cookie-names.ts';

/** Cookies of a dashboard session, or of a sign-in to it, in lower case. */
const ownNames: ReadonlySet<string> = new Set(
  [plainLoginCookie, plainSessionCookie, secureLoginCookie, secureSessionCookie].map((name) => name.toLowerCase()),
);
/** Occurs in every text that holds a cookie of ours, and hardly in any other. */
const mention = new RegExp(`${plainSessionCookie}|${visitorCookieMark}`, 'i');
/** Characters around a name that some readers drop. */
const dropped: ReadonlySet<string> = new Set([' ', '\t', '\n', '\v', '\f', '\r', '\u00a0', '"', "'"]);

/** The value of a Cookie header without the cookies of such sessions; empty if there is nothing else. */
export function withoutSessionCookie(value: string): string {
  if (!mention.test(value)) return value;
  const kept = value.split(';').filter((pair) => !isSession(pair));
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
  if (name.length !== 10 || name.toLowerCase() !== 'set-cookie') return false;
  const value = headers[at + 1] ?? '';
  if (!mention.test(value)) return false;
  const end = value.indexOf(';');
  return isSession(end < 0 ? value : value.slice(0, end));
}

/**
 * True of a cookie that some reader takes for that of a dashboard session, of a sign-in to it, or of a visitor who has signed
 * in: browsers drop blanks and a leading "=", others quotes, and some read names in any case. Names of visitors' cookies have
 * their mark in the middle. The value may be long: each character is looked at once.
 */
function isSession(pair: string): boolean {
  let from = 0;
  while (pair[from] === '=' || dropped.has(pair[from] ?? '')) from++;
  const equals = pair.indexOf('=', from);
  let to = equals < 0 ? pair.length : equals;
  while (to > from && dropped.has(pair[to - 1] ?? '')) to--;
  const name = pair.slice(from, to).toLowerCase();
  return ownNames.has(name) || name.includes(visitorCookieMark);
}
