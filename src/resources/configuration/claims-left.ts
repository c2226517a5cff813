import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';

/** Claims that a change leaves to others; the fields of a deletion are empty. */
export function claimsLeft(kind: ConfigurationKind, before: EntryFields, after: EntryFields): readonly string[] {
  if (kind.leaves !== undefined) return kind.leaves(before, after);
  const kept = new Set(kind.claims?.(after) ?? []);
  return (kind.claims?.(before) ?? []).filter((claim) => !kept.has(claim));
}
