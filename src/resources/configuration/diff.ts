import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { stableText } from './stable-text.ts';

/** A field that is to change. Of a set, only the members that differ are shown. */
export interface FieldChange {
  readonly field: string;
  /** Null where it was not set. */
  readonly before: unknown;
  /** Null where it is not set any more. */
  readonly after: unknown;
}

type Compared = Pick<ConfigurationKind, 'maps' | 'sets'>;

export function diffFields(kind: Compared, before: EntryFields, after: EntryFields): readonly FieldChange[] {
  const { maps = [], sets = [] } = kind;
  const changes: FieldChange[] = [];
  for (const field of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[field], after[field]];
    if (sets.includes(field)) changes.push(...diffSets(field, listOf(old), listOf(now)));
    else if (maps.includes(field))
      for (const change of diffMaps(field, fieldsOf(old), fieldsOf(now))) changes.push(change);
    else if (stableText(old ?? null) !== stableText(now ?? null))
      changes.push({ field, before: old ?? null, after: now ?? null });
  }
  return changes;
}

function diffSets(field: string, before: readonly unknown[], after: readonly unknown[]): readonly FieldChange[] {
  const old = new Set(before.map(textOf));
  const now = new Set(after.map(textOf));
  const removed = before.filter((each) => !now.has(textOf(each)));
  const added = after.filter((each) => !old.has(textOf(each)));
  return removed.length + added.length === 0 ? [] : [{ field, before: removed, after: added }];
}

/** Most members are texts, and there may be a hundred thousand. */
function textOf(member: unknown): string {
  return typeof member === 'string' ? member : stableText(member);
}

function* diffMaps(field: string, before: EntryFields, after: EntryFields): Generator<FieldChange> {
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [old, now] = [before[key], after[key]];
    if (old === undefined || now === undefined)
      yield { field: `${field}.${key}`, before: old ?? null, after: now ?? null };
    else
      for (const change of diffFields({}, fieldsOf(old), fieldsOf(now)))
        yield { ...change, field: `${field}.${key}.${change.field}` };
  }
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function fieldsOf(value: unknown): EntryFields {
  // Only maps are given here, or nothing.
  return (value ?? {}) as EntryFields;
}
