/** More edits than this, or than half of the letters, make another word. */
export const mostEdits = 3;
/** Longer words are not compared: anybody may send one, and no name is as long. */
const comparedLength = 40;

/** The name that was probably meant: the one with the fewest letters added, left out, changed or swapped, else the same words. */
export function nearestName(word: string, names: readonly string[]): string | undefined {
  let nearest: string | undefined;
  let fewest = Number.POSITIVE_INFINITY;
  for (const name of names) {
    const edits = editsBetween(word, name);
    if (edits >= fewest) continue;
    nearest = name;
    fewest = edits;
  }
  return nearest ?? names.find((name) => hasSameWords(word, name));
}

/** Edits that make a name of a word; infinite where they are so many that the name is another word. */
export function editsBetween(word: string, name: string): number {
  if (word === name) return 0;
  const most = Math.min(mostEdits, Math.floor(word.length / 2));
  if (word.length > comparedLength || Math.abs(word.length - name.length) > most) return Number.POSITIVE_INFINITY;
  const edits = countEdits(word, name, most);
  return edits > most ? Number.POSITIVE_INFINITY : edits;
}

/** True for `https_edges` and `edges_https`. */
function hasSameWords(word: string, name: string): boolean {
  return word.length === name.length && word.length <= comparedLength && wordsOf(word) === wordsOf(name);
}

function wordsOf(name: string): string {
  return name
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .toSorted()
    .join(' ');
}

/** Rows of the table of edits, used by turns: a new one for each letter would cost more than the comparison. */
const rows = Array.from({ length: 3 }, () => new Uint8Array(comparedLength + mostEdits + 1)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
];

/** The Damerau-Levenshtein distance, of which each row needs the two before it; `most + 1` where it is more than `most`. */
function countEdits(from: string, to: string, most: number): number {
  let [before, above, current] = rows;
  for (let column = 0; column <= to.length; column++) above[column] = column;
  for (let row = 1; row <= from.length; row++) {
    current[0] = row;
    let fewest = row;
    for (let column = 1; column <= to.length; column++) {
      const isSame = from[row - 1] === to[column - 1];
      let edits = Math.min(
        at(above, column) + 1,
        at(current, column - 1) + 1,
        at(above, column - 1) + (isSame ? 0 : 1),
      );
      const isSwapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1];
      if (isSwapped) edits = Math.min(edits, at(before, column - 2) + 1);
      current[column] = edits;
      fewest = Math.min(fewest, edits);
    }
    // No later row has fewer.
    if (fewest > most) return most + 1;
    [before, above, current] = [above, current, before];
  }
  return at(above, to.length);
}

function at(row: Uint8Array, column: number): number {
  return row[column] ?? 0;
}
