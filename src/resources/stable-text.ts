import { jsonPieces } from '../lib/json-pieces.ts';

/** JSON whose text does not depend on the order of keys, so that equal values have equal texts. */
export function stableText(value: unknown): string {
  return JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each) ? sorted(each) : each,
  );
}

/** The same, in pieces. */
export function stablePieces(value: unknown): Iterable<string> {
  return jsonPieces(value, { textOf: stableText, keysOf: (each) => Object.keys(each).toSorted() });
}

function sorted(fields: object): object {
  return Object.fromEntries(Object.entries(fields).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
