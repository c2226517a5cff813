import { Type } from 'typebox';
import type { TProperties } from 'typebox';

/** Names in a file: they stand in references, in messages and on command lines. */
const entryName = Type.String({
  description:
    'Name of the entry, unique among those that are named alike: 1 to 100 letters, digits, ".", "_" and "-", the first of ' +
    'them a letter or digit. It is kept apart from the resource, whose fields it does not touch.',
  pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$',
  examples: ['office'],
});

/** The schema of an entry of one kind. */
export function entrySchema<Properties extends TProperties>($id: string, kind: string, fields: Properties) {
  return Type.Object(
    { kind: Type.Literal(kind, { description: 'Kind of the entry.' }), name: entryName, ...fields },
    { $id, additionalProperties: false, description: `An entry of ${kind} in a configuration.` },
  );
}

export function nameOf(noun: string, example: string) {
  return Type.String({ description: `Name of ${noun}.`, examples: [example] });
}
