import { Type } from 'typebox';

import { textFields } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { defineKind, textsOf, textsToSet } from '../configuration-kind.ts';
import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { entrySchema } from '../configuration-schema.ts';
import type { Labels } from '../labels.ts';
import { anyKey } from '../../lib/any-key.ts';
import { invalidLabels, tunnelGroupInUse } from './errors.ts';
import { tunnelGroupBackends } from './table.ts';
import { tunnelGroupWrites as writes } from './writes.ts';

export const TunnelGroupBackendEntry = entrySchema('TunnelGroupBackendEntry', 'tunnel_group_backends', {
  ...textFields,
  labels: Type.Record(anyKey, Type.String(), {
    description: 'Labels by name. A tunnel belongs to the group if it has all of them.',
    examples: [{ app: 'shop' }],
  }),
});

interface GroupFields extends TextFields {
  readonly labels: Labels;
}

export function tunnelGroupKind(): ConfigurationKind {
  return defineKind({
    kind: 'tunnel_group_backends',
    noun: 'tunnel group backend',
    scope: 'backend',
    table: tunnelGroupBackends,
    changeKinds: ['tunnel_group_backend'],
    schema: TunnelGroupBackendEntry,
    errors: [invalidLabels, tunnelGroupInUse],
    suggestName: ({ description, labels }) => description ?? Object.values(labels).join('-'),
    describe: async (_queries, groups) => groups.map(toFields),
    accept: async (fields) => toFields(read(fields)),
    create: ({ transaction, call }, fields) => writes.create(transaction, { ...call, body: read(fields) }),
    async update({ transaction, call }, group, fields) {
      const { labels, ...texts } = read(fields);
      await writes.update(transaction, { ...call, body: { ...textsToSet(texts), labels } }, group);
    },
    remove: ({ transaction, call }, group) => writes.remove(transaction, call, group),
  });
}

function toFields({ labels, ...texts }: GroupFields): EntryFields {
  return { ...textsOf(texts), labels };
}

function read(fields: EntryFields): GroupFields {
  // The entry has passed its schema.
  return fields as unknown as GroupFields;
}
