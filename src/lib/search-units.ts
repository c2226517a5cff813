/** JavaScript finds texts up to this length in linear time. Longer ones it may compare whole at every place. */
export const quickLength = 64;

/** Work of looking for one text in another, in units of expressions: somebody may have chosen both. */
export function searchUnits(text: string, part: string): number {
  return text.length / 64 + (part.length > quickLength ? comparisonUnits(text, part) : 0);
}

/** The same from the end, where texts of any length are compared at every place. */
export function backwardSearchUnits(text: string, part: string): number {
  return text.length / 64 + comparisonUnits(text, part);
}

function comparisonUnits(text: string, part: string): number {
  return (Math.max(text.length - part.length, 0) * part.length) / 16;
}
