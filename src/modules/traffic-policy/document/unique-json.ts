import { finishNow } from '../../../lib/steps.ts';
import type { Steps } from '../../../lib/steps.ts';

type Read = { readonly value: unknown; readonly isUnique: boolean } | undefined;

/** Levels beyond which code that calls itself for each could not walk it. */
const deepest = 1_000;
const valuesAtOnce = 10_000;

/** Parses JSON, and tells whether each object has each key once. Undefined: it is no JSON. */
export function parseUniqueJson(text: string): Read {
  return finishNow(uniqueJsonSteps(text));
}

/** Reads the same in steps. */
export function* uniqueJsonSteps(text: string): Steps<Read> {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  yield;
  const entries = yield* countEntries(value);
  yield;
  return entries === undefined ? undefined : { value, isUnique: countColons(text) === entries };
}

/** Entries of all objects. Undefined: it is too deep. */
function* countEntries(root: unknown): Steps<number | undefined> {
  let [entries, seen, depth] = [0, 0, 0];
  let level = [root];
  while (level.length > 0) {
    if (++depth > deepest) return undefined;
    const below: unknown[] = [];
    for (const each of level) {
      if (++seen % valuesAtOnce === 0) yield;
      if (typeof each !== 'object' || each === null) continue;
      const values: readonly unknown[] = Array.isArray(each) ? each : Object.values(each);
      if (!Array.isArray(each)) entries += values.length;
      for (const value of values) if (typeof value === 'object' && value !== null) below.push(value);
    }
    level = below;
  }
  return entries;
}

/** Colons outside of texts: JSON has one for each entry of an object. */
function countColons(json: string): number {
  let count = 0;
  let isInText = false;
  for (let at = 0; at < json.length; at++) {
    const character = json[at];
    if (isInText && character === '\\') at++;
    else if (character === '"') isInText = !isInText;
    else if (character === ':' && !isInText) count++;
  }
  return count;
}
