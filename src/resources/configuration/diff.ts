import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import type { Steps } from '../../lib/steps.ts';
import { stableText } from '../stable-text.ts';

/** A field that is to change. Of a set, only the members that differ are shown. */
export interface FieldChange {
  readonly field: string;
  /** Null where it was not set. */
  readonly before: unknown;
  /** Null where it is not set any more. */
  readonly after: unknown;
}

type Compared = Pick<ConfigurationKind, 'maps' | 'sets'>;

/** The fields of an entry that differ. A map or a set may have very many members. */
export function* diffFields(kind: Compared, before: EntryFields, after: EntryFields): Steps<readonly FieldChange[]> {
  const { maps = [], sets = [] } = kind;
  const changes: FieldChange[] = [];
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[field], after[field]];
    if (sets.includes(field)) changes.push(...(yield* diffSets(field, listOf(old), listOf(now))));
    else if (maps.includes(field))
      for (const change of yield* diffMaps(field, fieldsOf(old), fieldsOf(now))) changes.push(change);
    else if (stableText(old ?? null) !== stableText(now ?? null))
      changes.push({ field, before: old ?? null, after: now ?? null });
  }
  return changes;
}

function* diffSets(
  field: string,
  before: readonly unknown[],
  after: readonly unknown[],
): Steps<readonly FieldChange[]> {
  const removed = yield* without(before, yield* textsOf(after));
  const added = yield* without(after, yield* textsOf(before));
  return removed.length + added.length === 0 ? [] : [{ field, before: removed, after: added }];
}

function* textsOf(members: readonly unknown[]): Steps<ReadonlySet<string>> {
  const texts = new Set<string>();
  for (const member of members) {
    texts.add(textOf(member));
    yield;
  }
  return texts;
}

function* without(members: readonly unknown[], texts: ReadonlySet<string>): Steps<readonly unknown[]> {
  const left: unknown[] = [];
  for (const member of members) {
    if (!texts.has(textOf(member))) left.push(member);
    yield;
  }
  return left;
}

/** Most members are texts, and there may be a hundred thousand. */
function textOf(member: unknown): string {
  return typeof member === 'string' ? member : stableText(member);
}

function* diffMaps(field: string, before: EntryFields, after: EntryFields): Steps<readonly FieldChange[]> {
  const changes: FieldChange[] = [];
  const added = Object.keys(after).filter((key) => !Object.hasOwn(before, key));
  for (const key of Object.keys(before).concat(added)) {
    const [old, now] = [before[key], after[key]];
    if (old === undefined || now === undefined)
      changes.push({ field: `${field}.${key}`, before: old ?? null, after: now ?? null });
    else
      for (const change of yield* diffFields({}, fieldsOf(old), fieldsOf(now)))
        changes.push({ ...change, field: `${field}.${key}.${change.field}` });
    yield;
  }
  return changes;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function fieldsOf(value: unknown): EntryFields {
  // Only maps are given here, or nothing.
  return (value ?? {}) as EntryFields;
}
