export interface DiffLine {
  readonly kind: 'same' | 'add' | 'del' | 'gap';
  readonly text: string;
}

/** Beyond this many lines on a side, a change is shown as a whole: comparing costs their product. */
const mostLines = 400;

/** Lines that tell one document from another; runs of equal ones are folded into a gap unless the `whole` is asked for. */
export function diffDocuments(before: unknown, after: unknown, whole = false): DiffLine[] {
  const lines = diffLines(linesOf(before), linesOf(after));
  return whole ? lines : fold(lines);
}

/** The same of two texts, line by line. */
export function diffTexts(before: readonly string[], after: readonly string[]): DiffLine[] {
  return fold(diffLines(before, after));
}

function linesOf(document: unknown): string[] {
  return document === null || document === undefined ? [] : JSON.stringify(document, undefined, 2).split('\n');
}

function diffLines(before: readonly string[], after: readonly string[]): DiffLine[] {
  if (before.length > mostLines || after.length > mostLines) {
    return [
      ...before.map((text): DiffLine => ({ kind: 'del', text })),
      ...after.map((text): DiffLine => ({ kind: 'add', text })),
    ];
  }
  const common = commonLengths(before, after);
  const lines: DiffLine[] = [];
  let left = 0;
  let right = 0;
  while (left < before.length || right < after.length) {
    const [old, fresh] = [before[left], after[right]];
    if (old !== undefined && old === fresh) {
      lines.push({ kind: 'same', text: old });
      left++;
      right++;
    } else if (
      old !== undefined &&
      (fresh === undefined || at(common, left + 1, right) >= at(common, left, right + 1))
    ) {
      lines.push({ kind: 'del', text: old });
      left++;
    } else if (fresh !== undefined) {
      lines.push({ kind: 'add', text: fresh });
      right++;
    }
  }
  return lines;
}

/** Length of the longest common subsequence from each pair of positions on. */
function commonLengths(before: readonly string[], after: readonly string[]): readonly (readonly number[])[] {
  const table = Array.from({ length: before.length + 1 }, () => Array.from({ length: after.length + 1 }, () => 0));
  for (let left = before.length - 1; left >= 0; left--) {
    for (let right = after.length - 1; right >= 0; right--) {
      const row = table[left];
      if (row === undefined) continue;
      row[right] =
        before[left] === after[right]
          ? at(table, left + 1, right + 1) + 1
          : Math.max(at(table, left + 1, right), at(table, left, right + 1));
    }
  }
  return table;
}

function at(table: readonly (readonly number[])[], left: number, right: number): number {
  return table[left]?.[right] ?? 0;
}

/** Equal lines further than one from a change are counted, not shown. */
function fold(lines: readonly DiffLine[]): DiffLine[] {
  const isNear = lines.map((_, index) =>
    lines.slice(Math.max(0, index - 1), index + 2).some(({ kind }) => kind !== 'same'),
  );
  const folded: DiffLine[] = [];
  let hidden = 0;
  const flush = (): void => {
    if (hidden > 0) folded.push({ kind: 'gap', text: hidden === 1 ? '1 line unchanged' : `${hidden} lines unchanged` });
    hidden = 0;
  };
  for (const [index, line] of lines.entries()) {
    if (isNear[index] === true) {
      flush();
      folded.push(line);
    } else {
      hidden++;
    }
  }
  flush();
  return folded;
}
