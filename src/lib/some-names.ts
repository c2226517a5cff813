/** Names that a sentence has at most. */
const shownNames = 3;

/** Names as a sentence has them: `a`, `a or b`, `a, b or c`, `a, b, c or 4 more`. */
export function someNames(names: readonly string[], word: 'and' | 'or'): string {
  const more = names.length - shownNames;
  const shown = more > 0 ? [...names.slice(0, shownNames), `${more} more`] : names;
  const last = shown.at(-1) ?? '';
  return shown.length < 2 ? last : `${shown.slice(0, -1).join(', ')} ${word} ${last}`;
}
