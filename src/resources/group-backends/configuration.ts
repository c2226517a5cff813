import { textFields } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import type { ErrorDefinition } from '../../errors/user-error.ts';
import { defineKind, textsOf, textsToSet } from '../configuration-kind.ts';
import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { entrySchema } from '../configuration-schema.ts';
import type { GroupKind } from './kinds.ts';
import type { groupWrites } from './writes.ts';

interface GroupFields<Members> extends TextFields {
  readonly backends: Members;
}

/** The schema of an entry; `title` is its name. */
export function groupEntry<Members>({ section, schema, noun }: GroupKind<Members>, title: string) {
  const backends = schema(`Names of the backends that the ${noun} stands for.`);
  return entrySchema(title, section, { ...textFields, backends });
}

export function groupKind<Members>(
  kind: GroupKind<Members>,
  schema: ReturnType<typeof groupEntry>,
  writes: ReturnType<typeof groupWrites<Members>>,
  errors: readonly ErrorDefinition[],
): ConfigurationKind {
  const { table, section, noun, rename, idsOf } = kind;
  const toFields = ({ backends, ...texts }: GroupFields<Members>): EntryFields => ({ ...textsOf(texts), backends });
  // The entry has passed its schema.
  const read = (fields: EntryFields) => fields as unknown as GroupFields<Members>;
  return defineKind({
    kind: section,
    noun,
    scope: 'backend',
    table,
    changeKinds: [table.kind],
    schema,
    errors,
    namesItsScope: true,
    suggestName: ({ description }) => description ?? noun.replace(' backend', ''),
    describe: async (_queries, groups, nameOf) =>
      groups.map((group) => toFields({ ...group, backends: rename(group.backends, nameOf) })),
    accept: async (fields) => toFields(read(fields)),
    create({ transaction, call, idOf }, fields) {
      const { backends, ...texts } = read(fields);
      const body = { ...texts, backends: rename(backends, (name) => idOf('backend', name)) };
      return writes.create(transaction, { ...call, body });
    },
    async update({ transaction, idOf }, group, fields) {
      const { backends, ...texts } = read(fields);
      const body = { ...textsToSet(texts), backends: rename(backends, (name) => idOf('backend', name)) };
      await writes.update(transaction, { body }, group);
    },
    remove: ({ transaction }, group) => writes.remove(transaction, group),
    names: (fields) => idsOf(read(fields).backends).map((name) => ({ scope: 'backend', name })),
  });
}
