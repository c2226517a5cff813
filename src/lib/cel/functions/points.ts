const pairs = /[\ud800-\udfff]/;

/** Characters of a text, of which some are pairs of JavaScript. No list of them is made: it would cost a hundred times as much. */
export function countPoints(text: string): number {
  if (!pairs.test(text)) return text.length;
  let count = 0;
  for (let at = 0; at < text.length; at = pointEnd(text, at)) count++;
  return count;
}

/** The place of JavaScript behind so many characters. */
export function offsetOf(text: string, points: number): number {
  if (!pairs.test(text)) return points;
  let at = 0;
  for (let count = 0; count < points && at < text.length; count++) at = pointEnd(text, at);
  return at;
}

export function slicePoints(text: string, from: number, to: number): string {
  return text.slice(offsetOf(text, from), offsetOf(text, to));
}

/** Characters up to a place of JavaScript. */
export function pointsBefore(text: string, at: number): number {
  return at < 0 ? -1 : countPoints(text.slice(0, at));
}

function pointEnd(text: string, at: number): number {
  return at + ((text.codePointAt(at) ?? 0) > 0xff_ff ? 2 : 1);
}
