/** Characters of a text, where some are pairs of JavaScript; else the text itself, whose characters are the same. */
export function pointsOf(text: string): readonly string[] | string {
  return /[\ud800-\udfff]/.test(text) ? Array.from(text) : text;
}

export function slicePoints(text: string, from: number, to: number): string {
  const points = pointsOf(text);
  return typeof points === 'string' ? points.slice(from, to) : points.slice(from, to).join('');
}

/** Characters up to a place of JavaScript. */
export function pointsBefore(text: string, at: number): number {
  return at < 0 ? -1 : pointsOf(text.slice(0, at)).length;
}
