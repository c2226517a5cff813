/** Bytes that are not valid HTTP/1.1, or that two readers could frame differently. */
export class MalformedMessage extends Error {
  override readonly name = 'MalformedMessage';
}

/** Matches all lines at once, which is faster than one by one; most heads are well formed. */
const wellFormedLines =
  /[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*(?:\r\n[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*)*(?:\r\n)?$/y;
const fieldLimit = 500;

/** Reads lines of `name: value` from `at` on. Refuses folded lines, bare line breaks and space before the colon. */
export function parseFields(text: string, at: number, limit = fieldLimit): string[] {
  if (at >= text.length) return [];
  wellFormedLines.lastIndex = at;
  if (!wellFormedLines.test(text)) throw new MalformedMessage(faultOfLines(text, at));
  const fields: string[] = [];
  while (at < text.length) {
    let end = text.indexOf('\r\n', at);
    if (end < 0) end = text.length;
    const colon = text.indexOf(':', at);
    if (fields.length === limit * 2) throw new MalformedMessage('too many headers');
    fields.push(text.slice(at, colon), trimBlanks(text, colon + 1, end));
    at = end + 2;
  }
  return fields;
}

function faultOfLines(text: string, at: number): string {
  const lines = text.slice(at).split('\r\n');
  return lines.every((line) => line === '' || line.includes(':'))
    ? 'malformed header line'
    : 'header line without a colon';
}

function trimBlanks(text: string, from: number, end: number): string {
  while (from < end && isBlank(text.charCodeAt(from))) from++;
  while (end > from && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(from, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}
