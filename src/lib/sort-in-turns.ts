import { Pace } from './pace.ts';

/** Items that are sorted without a pause. */
const runLength = 1_024;

/** Sorts texts by their characters' codes, in slices: a hundred thousand of them take too long for one turn. */
export async function sortInTurns(texts: readonly string[]): Promise<readonly string[]> {
  const pace = new Pace();
  let runs: (readonly string[])[] = [];
  for (let at = 0; at < texts.length; at += runLength) {
    runs.push(texts.slice(at, at + runLength).toSorted());
    if (pace.isDue) await pace.giveWay();
  }
  while (runs.length > 1) {
    const merged: (readonly string[])[] = [];
    for (let at = 0; at < runs.length; at += 2) merged.push(await merge(runs[at] ?? [], runs[at + 1] ?? [], pace));
    runs = merged;
  }
  return runs[0] ?? [];
}

async function merge(left: readonly string[], right: readonly string[], pace: Pace): Promise<readonly string[]> {
  const merged: string[] = [];
  let leftAt = 0;
  let rightAt = 0;
  while (leftAt < left.length && rightAt < right.length) {
    // Both places are in range.
    merged.push(left[leftAt]! <= right[rightAt]! ? left[leftAt++]! : right[rightAt++]!);
    if (merged.length % runLength === 0 && pace.isDue) await pace.giveWay();
  }
  return merged.concat(left.slice(leftAt), right.slice(rightAt));
}
