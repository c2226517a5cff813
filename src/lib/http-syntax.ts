/** Header names, in lower case, that control the framing or life of a connection; the gateway alone sets them. */
export const connectionHeaders: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Header names, in lower case, that are for one connection only and are dropped when a message is passed on. */
export const hopByHopHeaders: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const tokenPattern = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const fieldValuePattern = /^(?:[\x21-\x7e\x80-\xff](?:[\t\x20-\x7e\x80-\xff]*[\x21-\x7e\x80-\xff])?)?$/;

/** True for a field name, method or other `token` of RFC 9110. */
export function isToken(text: string): boolean {
  return tokenPattern.test(text);
}

/**
 * True for text that arrives as it was sent: empty, or latin1 without control characters and with spaces and tabs only
 * inside, as a recipient drops them at the ends. 0x80 to 0x9f count as text, since UTF-8 read as latin1 has them.
 */
export function isFieldValue(text: string): boolean {
  return fieldValuePattern.test(text);
}

/** The elements of a comma-separated list, in lower case, without empty ones. */
export function listTokens(value: string): string[] {
  const elements: string[] = [];
  for (const part of value.split(',')) {
    const element = trimBlanks(part);
    if (element !== '') elements.push(element.toLowerCase());
  }
  return elements;
}

/** Trims spaces and tabs only: `trim` would also hide a non-breaking space that the next hop sees. */
function trimBlanks(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

const separators = /[^a-z0-9]/g;
/** Hyphens stay as they are, and most names have no other separator. */
const otherSeparator = /[^a-z0-9-]/;

/** The spelling, of a name in lower case, that stands for all names that differ from it only in punctuation. */
export function foldName(lower: string): string {
  return otherSeparator.test(lower) ? lower.replaceAll(separators, '-') : lower;
}
