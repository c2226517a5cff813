/** Ways in which servers read a path, each switched on or off on its own. */
interface ReadingRules {
  /** How many times percent-encoding is decoded. */
  readonly decodings: number;
  /** Characters that are encoded in more bytes than they need count as what they stand for. */
  readonly overlong: boolean;
  readonly backslashes: boolean;
  /** A segment ends at its first semicolon. */
  readonly parameters: boolean;
  readonly mergesSlashes: boolean;
  readonly resolvesDots: boolean;
  /** A string ends at a NUL. */
  readonly endsAtNul: boolean;
}

const flags = [false, true] as const;

/** All combinations of the rules. */
export const readingRules: readonly ReadingRules[] = [0, 1, 2, 3].flatMap((decodings) =>
  flags.flatMap((overlong) =>
    flags.flatMap((backslashes) =>
      flags.flatMap((parameters) =>
        flags.flatMap((mergesSlashes) =>
          flags.flatMap((resolvesDots) =>
            flags.map((endsAtNul) => {
              return { decodings, overlong, backslashes, parameters, mergesSlashes, resolvesDots, endsAtNul };
            }),
          ),
        ),
      ),
    ),
  ),
);

export function readPath(path: string, rules: ReadingRules): string {
  let text = path;
  for (let left = rules.decodings; left > 0; left--) text = decodePercent(text);
  if (rules.overlong) text = decodeOverlong(text);
  if (rules.endsAtNul) text = text.split('\0')[0] ?? '';
  if (rules.backslashes) text = text.replaceAll('\\', '/');
  if (rules.parameters) text = text.replaceAll(/;[^/]*/g, '');
  if (rules.mergesSlashes) text = text.replaceAll(/\/{2,}/g, '/');
  return rules.resolvesDots ? resolveDots(text) : text;
}

/** Decodes to bytes, one character each; a percent sign without two digits stays. */
function decodePercent(text: string): string {
  return text.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)));
}

/** Decodes sequences of two to six bytes as the first definition of UTF-8 did, if they stand for ASCII. */
function decodeOverlong(text: string): string {
  return text.replaceAll(
    /[\xc0\xc1][\x80-\xbf]|\xe0[\x80\x81][\x80-\xbf]|\xf0\x80[\x80\x81][\x80-\xbf]|\xf8\x80\x80[\x80\x81][\x80-\xbf]|\xfc\x80\x80\x80[\x80\x81][\x80-\xbf]/g,
    (bytes) => {
      const [high = 0, low = 0] = Array.from(bytes.slice(-2), (byte) => byte.charCodeAt(0));
      return String.fromCharCode(((high & 0x01) << 6) | (low & 0x3f));
    },
  );
}

function resolveDots(path: string): string {
  const segments: string[] = [];
  const parts = path.split('/').slice(1);
  for (const [at, part] of parts.entries()) {
    const isLast = at === parts.length - 1;
    if (part === '..') segments.pop();
    else if (part !== '.') segments.push(part);
    if (isLast && (part === '.' || part === '..')) segments.push('');
  }
  return `/${segments.join('/')}`;
}
