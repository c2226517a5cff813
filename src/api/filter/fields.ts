import type { Field, FieldKind } from '../../store/search/condition.ts';

/** Fields that a list can be filtered by: the name behind `obj.`, and where the value is. */
export type FilterFields = Readonly<Record<string, Field>>;

const inDocument =
  (kind: FieldKind) =>
  (...path: readonly string[]): Field => ({ kind, path });

export const textIn = inDocument('text');
export const timeIn = inDocument('time');
export const booleanIn = inDocument('boolean');
export const numberIn = inDocument('number');
export const listIn = inDocument('list');
export const mapIn = inDocument('map');

/** Field with one value for every entry, such as the region of this installation. */
export const alwaysText = (constant: string): Field => ({ kind: 'text', constant });

/** Fields that most resources have. */
export const commonFields = {
  id: textIn('id'),
  created_at: timeIn('created_at'),
  description: textIn('description'),
  metadata: textIn('metadata'),
} as const satisfies FilterFields;
