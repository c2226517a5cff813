import { Type } from 'typebox';
import type { TSchema } from 'typebox';

import type { ConfigurationKind } from '../configuration-kind.ts';
import type { DeclaredEntry } from './plan.ts';

/** Admissions that an answer has. */
export const mostAdmissions = 100;

export const ConfigurationMoment = Type.Object(
  {
    version: Type.Integer({ description: 'Version of the last change before it: the change log has that change.' }),
    created_at: Type.Unsafe<string | null>({
      type: ['string', 'null'],
      format: 'date-time',
      description: 'When that change was made; null where the log has no change that old.',
    }),
  },
  { $id: 'ConfigurationMoment', description: 'A moment of a configuration.' },
);

const momentOrNull = (description: string) =>
  Type.Optional(Type.Union([Type.Ref('ConfigurationMoment'), Type.Null()], { description }));

/** Fields beside the entries of an earlier moment. */
export const aboutMoment = Type.Object({
  earlier: momentOrNull('With `at`: the moment before the last change; null if the change log has no earlier one.'),
  later: momentOrNull('With `at`: the moment behind the next change; null if nothing has changed since.'),
  first: momentOrNull('With `at`: the moment behind the first change in the change log; null if it has none.'),
  ids: Type.Optional(
    Type.Array(Type.String(), { description: 'With `at`: ids of the resources, in the order of the entries.' }),
  ),
});

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

export const ConfigurationNames = Type.Object(
  {
    names: Type.Array(
      Type.Object({
        kind: Type.String({ description: 'Kind of the entry.' }),
        name: Type.String({ description: 'Name of the entry.' }),
        id: Type.String({ description: 'Id of the resource.' }),
      }),
      { description: 'One for each resource, by kind and name.' },
    ),
  },
  { $id: 'ConfigurationNames' },
);

export const ConfigurationApplied = Type.Object(
  {
    dry_run: Type.Boolean({ description: 'true: nothing was changed.' }),
    created: count('How many resources are new.'),
    changed: count('How many resources are changed.'),
    deleted: count('How many resources are gone.'),
    unchanged: count('How many declared entries were as they should be already.'),
    admits_new: Type.Optional(
      Type.Object(
        {
          answer: Type.String({
            enum: ['no', 'yes', 'unknown'],
            description:
              'no: everybody who would come in could come in before, for certain. yes: an address that was refused would come in. unknown: something else than addresses decides.',
          }),
          admissions: Type.Array(
            Type.Object({
              to: Type.String({
                description: 'A place that people reach: an entry, the API, the dashboard, agents or an API key.',
              }),
              answer: Type.String({ enum: ['yes', 'unknown'] }),
              example: Type.Unsafe<string | null>({
                type: ['string', 'null'],
                description: 'An address that would come in; null where it is unknown.',
                examples: ['203.0.113.7'],
              }),
              text: Type.String({ description: 'The reason, in words.' }),
            }),
            { description: `Places that would admit somebody new; at most ${mostAdmissions}.` },
          ),
          total: count('How many there are.'),
        },
        {
          description:
            'Answer of a dry run: would anybody be let in who is refused now? Exact for every address of IPv4 and IPv6.',
        },
      ),
    ),
    steps: Type.Array(Type.Ref('ConfigurationStep'), { description: 'One for each of these resources.' }),
  },
  { $id: 'ConfigurationApplied' },
);

export const ConfigurationReturned = Type.Object(
  { moment: Type.Ref('ConfigurationMoment'), ...ConfigurationApplied.properties },
  { $id: 'ConfigurationReturned' },
);

const { dry_run: _, admits_new: _admissions, ...counts } = ConfigurationApplied.properties;
export const ConfigurationDiff = Type.Object(
  {
    from: Type.Ref('ConfigurationMoment'),
    to: Type.Union([Type.Ref('ConfigurationMoment'), Type.Null()], { description: 'The later moment; null: now.' }),
    ...counts,
  },
  { $id: 'ConfigurationDiff' },
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
