/** The value of a field in a stored row: where it is, and its kind. */
export type Field = {
  readonly kind: FieldKind;
  /** The letters A to Z of the text are read as a to z. */
  readonly isLowered?: true;
} & FieldPlace;

/** `time` is a text as `toTimestamp` writes it; `list` holds texts; `map` has texts by key. */
export type FieldKind = 'text' | 'time' | 'boolean' | 'number' | 'list' | 'map';

/** SQL and paths come from the code of a resource; `key` and `constant` may come from anybody, and are bound. */
type FieldPlace =
  | { readonly path: readonly string[]; readonly key?: string }
  | { readonly sql: string }
  | { readonly constant: string };

export type Operator = '=' | '<>' | '<' | '<=' | '>' | '>=';

/**
 * Decides about a row, true or false. A text that is not there counts as empty, a list or map too, and a boolean as false.
 * A time or number that is not there is only unequal to others, neither before nor after them.
 */
export type Condition =
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'all' | 'any'; readonly of: readonly Condition[] }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'isTrue' | 'isUnset'; readonly field: Field }
  | { readonly kind: 'compare'; readonly field: Field; readonly operator: Operator; readonly to: string | number }
  | { readonly kind: 'size'; readonly field: Field; readonly operator: Operator; readonly to: number }
  | { readonly kind: 'oneOf'; readonly field: Field; readonly values: readonly (string | number)[] }
  /** Whether the list, or the keys of the map, have the text. */
  | { readonly kind: 'includes'; readonly field: Field; readonly text: string }
  | { readonly kind: 'contains' | 'startsWith' | 'endsWith'; readonly field: Field; readonly text: string };

/** SQL that reads JSON, which the databases write differently. `document`, `value` and other arguments are SQL too. */
export interface JsonSql {
  /** Text at a path, or null. */
  text(document: string, path: readonly string[]): string;
  number(document: string, path: readonly string[]): string;
  /** Whether `true` is at the path; null where nothing is. */
  isTrue(document: string, path: readonly string[]): string;
  /** List or map at a path, for the functions below; null where nothing is. */
  value(document: string, path: readonly string[]): string;
  /** Text under a key of a map, or null. */
  textAt(value: string, key: string): string;
  listSize(value: string): string;
  mapSize(value: string): string;
  /** Whether the list has the text. */
  listHas(value: string, text: string): string;
  mapHas(value: string, key: string): string;
  /** Whether one text is part of another. */
  isPart(whole: string, part: string): string;
  /** Makes texts compare by their bytes. */
  byBytes(text: string): string;
}

type Leaf = Exclude<Condition, { readonly of: unknown }>;

function sumOf(condition: Condition, count: (leaf: Leaf) => number): number {
  if (!('of' in condition)) return count(condition);
  if (condition.kind === 'not') return sumOf(condition.of, count);
  return condition.of.reduce((sum, each) => sum + sumOf(each, count), 0);
}

/** Bytes of a text that is looked for in another at every place: so many more cost as much as one more comparison. */
const partBytes = 200;

/** Comparisons that a condition makes for each row, as a measure of work. */
export function comparisonsOf(condition: Condition): number {
  return sumOf(condition, (leaf) => {
    // Lowering a text reads it once more.
    const reads = 'field' in leaf && leaf.field.isLowered === true ? 2 : 1;
    if (leaf.kind === 'oneOf') return leaf.values.length + reads;
    return leaf.kind === 'contains' ? reads + Buffer.byteLength(leaf.text) / partBytes : reads;
  });
}

/** Comparisons that read a whole list or map of each row. */
export function lookupsOf(condition: Condition): number {
  return sumOf(condition, (leaf) => {
    if (leaf.kind === 'constant') return 0;
    const { field } = leaf;
    return field.kind === 'list' || field.kind === 'map' || 'key' in field ? 1 : 0;
  });
}
