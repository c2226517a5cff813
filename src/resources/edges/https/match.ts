import { quote, UserError } from '../../../errors/user-error.ts';
import { checkRequestPath, normalizePath } from '../../../lib/request-path.ts';
import { invalidMatch, matchRequired, matchTooLong } from '../errors.ts';

const matchLimitBytes = 1024;

/** The path as the gateway compares it. */
export function toMatchPath(match: string): string {
  return normalizePath(match);
}

/** Accepts only what a request can have as its path: any other route would never be reached. */
export function acceptMatch(match: string): string {
  if (match === '') throw new UserError(matchRequired);
  const bytes = Buffer.byteLength(match);
  if (bytes > matchLimitBytes) throw new UserError(matchTooLong, { bytes, limit: matchLimitBytes });
  const reason = findFault(match);
  if (reason !== undefined) throw new UserError(invalidMatch, { match: quote(match), reason });
  return match;
}

function findFault(match: string): string | undefined {
  if (!match.isWellFormed()) return 'it is not well-formed Unicode';
  // As a client would send it; what is left unencoded is checked as it stands.
  const sent = match.replaceAll(/[^!-~]+/g, encodeURIComponent);
  const checked = checkRequestPath(sent);
  if (!checked.ok) return `it ${checked.reason}`;
  if (sent.includes('?')) return 'it has a query, and only the path selects a route';
  if (/(?:^|\/)\*+(?:\/|$)|\*$/.test(match)) {
    return 'a "*" has no meaning in it; a path_prefix of "/blog" matches all below it';
  }
  // The gateway refuses requests that servers could read as another route's.
  if (/\/\/|;/.test(checked.matchPath)) return 'it has "//" or ";", which servers read in different ways';
  return undefined;
}
