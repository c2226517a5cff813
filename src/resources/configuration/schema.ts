import { Type } from 'typebox';
import type { TSchema } from 'typebox';

import type { ConfigurationKind } from '../configuration-kind.ts';
import type { DeclaredEntry } from './plan.ts';

export const ConfigurationFieldChange = Type.Object(
  {
    field: Type.String({ description: 'The field, or the way to it: `routes./api.backend`.' }),
    before: Type.Unsafe<unknown>({
      description: 'Present value; null if the field is not set. For rules: those that go.',
    }),
    after: Type.Unsafe<unknown>({
      description: 'Future value; null if the field is not set. For rules: those that come.',
    }),
  },
  { $id: 'ConfigurationFieldChange' },
);

export const ConfigurationStep = Type.Object(
  {
    action: Type.String({ enum: ['create', 'change', 'delete'], description: 'Kind of the change.' }),
    kind: Type.String({ description: 'Kind of the entry.' }),
    name: Type.String({ description: 'Name of the entry.' }),
    id: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      description: 'Id of the resource; null for one that a dry run would create.',
    }),
    fields: Type.Array(Type.Ref('ConfigurationFieldChange'), { description: 'The fields that differ.' }),
  },
  { $id: 'ConfigurationStep' },
);

const count = (description: string) => Type.Integer({ description });

export const ConfigurationApplied = Type.Object(
  {
    dry_run: Type.Boolean({ description: 'true: nothing was changed.' }),
    created: count('How many resources are new.'),
    changed: count('How many resources are changed.'),
    deleted: count('How many resources are gone.'),
    unchanged: count('How many declared entries were as they should be already.'),
    steps: Type.Array(Type.Ref('ConfigurationStep'), { description: 'One for each of these resources.' }),
  },
  { $id: 'ConfigurationApplied' },
);

export function entriesSchema(kinds: readonly ConfigurationKind[]) {
  const forms = kinds.flatMap(({ schema }) => (schema === undefined ? [] : [Type.Ref(idOf(schema))]));
  return Type.Array(
    Type.Unsafe<DeclaredEntry>({
      type: 'object',
      required: ['kind'],
      discriminator: { propertyName: 'kind' },
      oneOf: forms,
    }),
    { description: 'Entries in any order; each has a kind, a name, and the fields of its kind.' },
  );
}

function idOf(schema: TSchema): string {
  return '$id' in schema ? String(schema.$id) : '';
}
