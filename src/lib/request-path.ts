/**
 * The target of a request. `path + query` is the target as it was sent, to be passed on untouched (`query` has its `?`,
 * or is empty). `matchPath` is for choosing a route: see `normalizePath`.
 */
export interface CheckedPath {
  readonly ok: true;
  readonly path: string;
  readonly query: string;
  readonly matchPath: string;
}

export type RequestPath = CheckedPath | { readonly ok: false; readonly reason: string };

/** Paths in which there is nothing to look for, as most are: their segments begin with a letter, a digit, "_" or "-". */
const plainPath = /^(?:\/[\w-][\w.-]*)*\/?$/;

const hiddenCharacter = /%(?:[01][0-9a-f]|7f)/i;
/** Sequences of five bytes and more are no longer UTF-8, but old decoders take them. */
const overlongCharacter = /%c[01]%[89ab]|%e0%[89]|%f0%8|%f8%8[0-7]|%fc%8[0-3]|%f[ef]%8/i;

/** The order matters: each pattern may rely on those before it not having matched. */
const pathFaults: readonly (readonly [RegExp, string])[] = [
  [/\\/, 'has a backslash in its path'],
  [/%(?![0-9A-Fa-f]{2})/, 'has a percent sign in its path that is not followed by two hexadecimal digits'],
  [/%2f/i, 'has an encoded slash in its path'],
  [/%5c/i, 'has an encoded backslash in its path'],
  [hiddenCharacter, 'has an encoded control character in its path'],
  [overlongCharacter, 'has a character in its path that is encoded in more bytes than it needs'],
];
/** Includes `..;x`: some servers drop what follows the semicolon and then see `..`. */
const dotSegment = /\/\.\.?(?:[/;]|$)/;

/**
 * Refuses every target that a router and the server behind it could read as two different paths. Empty segments inside
 * a path are kept, as they are legal and mean different things to different servers; at its start `//` would be taken
 * for a host. The query is never read as a path, so only what breaks a request line is refused there.
 */
export function checkRequestPath(rawTarget: string): RequestPath {
  if (rawTarget !== '' && plainPath.test(rawTarget))
    return { ok: true, path: rawTarget, query: '', matchPath: rawTarget };
  if (!rawTarget.startsWith('/')) return refuse('does not start with a slash');
  if (rawTarget.startsWith('//')) return refuse('starts with two slashes');
  if (/[^\x21-\x7e]/.test(rawTarget)) return refuse('has a space, a control character or one outside ASCII');
  if (rawTarget.includes('#')) return refuse('has a fragment');
  const mark = rawTarget.indexOf('?');
  const path = mark < 0 ? rawTarget : rawTarget.slice(0, mark);
  const query = mark < 0 ? '' : rawTarget.slice(mark);
  const fault = /[%\\]/.test(path) ? pathFaults.find(([pattern]) => pattern.test(path)) : undefined;
  if (fault !== undefined) return refuse(fault[1]);
  const matchPath = normalizePath(path);
  if (dotSegment.test(matchPath)) return refuse('has a "." or ".." segment in its path');
  return { ok: true, path, query, matchPath };
}

/**
 * Brings paths that decode alike to one spelling, so that `/%61dmin` matches the route for `/admin`, as it will match the
 * handler in the server behind. Visible ASCII is decoded, except the percent sign; all else is encoded in upper case.
 */
export function normalizePath(path: string): string {
  if (/^[!-$&-~]*$/.test(path)) return path;
  return path
    .replaceAll(/[^!-~]+/g, (text) => encodeURIComponent(text.toWellFormed()))
    .replaceAll(/%[0-9A-Fa-f]{2}/g, (escape) => {
      const code = Number.parseInt(escape.slice(1), 16);
      return code > 0x20 && code < 0x7f && code !== 0x25 ? String.fromCharCode(code) : escape.toUpperCase();
    });
}

/** The parts of a path that servers read in more than one way. */
const openToReadings = /\/\/|;|%25[0-9A-Fa-f]{2}/;

/** Servers in a row rarely decode more than twice; the limit keeps a hostile path from taking long. */
const decodingLimit = 6;

const none: readonly string[] = [];

/**
 * Returns the other paths that servers may see in a path of `normalizePath`: some merge slashes, some drop `;x`, and some, often
 * two in a row, decode what is already decoded. Undefined if such a reading holds what no path may hold.
 */
export function otherReadings(matchPath: string): readonly string[] | undefined {
  if (!openToReadings.test(matchPath)) return none;
  const readings: string[] = [];
  let path = matchPath;
  for (let left = decodingLimit; left > 0; left--) {
    const bare = path.replaceAll(/;[^/]*/g, '');
    readings.push(path, mergeSlashes(path), bare, mergeSlashes(bare));
    const next = decodeAgain(path);
    if (next === path) return readings;
    if (hiddenCharacter.test(next) || overlongCharacter.test(next)) return undefined;
    // Servers read these in too many ways, each with the others or without.
    if (next.includes('\\') || dotSegment.test(next)) return undefined;
    path = next;
  }
  return undefined;
}

/** Decodes escapes whose percent sign is itself escaped, by one step. */
function decodeAgain(matchPath: string): string {
  return matchPath.replaceAll(/%25([0-9A-Fa-f]{2})/g, (_, digits: string) => normalizePath(`%${digits}`));
}

function mergeSlashes(path: string): string {
  return path.replaceAll(/\/{2,}/g, '/');
}

function refuse(reason: string): RequestPath {
  return { ok: false, reason };
}
