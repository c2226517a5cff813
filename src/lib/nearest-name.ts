/** More edits than this, or than half of the letters, make another word. */
const mostEdits = 3;

/** The name that was probably meant: the one with the fewest letters added, left out, changed or swapped, else the same words. */
export function nearestName(word: string, names: readonly string[]): string | undefined {
  const [best] = names
    .map((name) => ({ name, edits: countEdits(word, name) }))
    .filter(({ edits }) => edits <= Math.min(mostEdits, Math.floor(word.length / 2)))
    .toSorted((a, b) => a.edits - b.edits);
  return best?.name ?? names.find((name) => wordsOf(name) === wordsOf(word));
}

/** The words of a name in one order: `edges_https` has those of `https_edges`. */
function wordsOf(name: string): string {
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .toSorted()
    .join(' ');
}

/** The Damerau-Levenshtein distance, of which each row needs the two before it. */
function countEdits(from: string, to: string): number {
  let before: readonly number[] = [];
  let above = Array.from({ length: to.length + 1 }, (_, column) => column);
  for (let row = 1; row <= from.length; row++) {
    const current = [row];
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      const isSwapped = from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      current.push(
        Math.min(
          (above[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (above[column - 1] ?? 0) + (isSame ? 0 : 1),
          isSwapped ? (before[column - 2] ?? Infinity) + 1 : Infinity,
        ),
      );
    }
    before = above;
    above = current;
  }
  return above[to.length] ?? 0;
}
