import { Type } from 'typebox';

import { textFields } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { defineKind, textsOf, textsToSet } from '../configuration-kind.ts';
import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { entrySchema } from '../configuration-schema.ts';
import { addressWithoutHost, backendInUse, invalidAddress } from './errors.ts';
import { acceptAddress } from './address.ts';
import { staticBackends } from './table.ts';
import { staticBackendWrites as writes } from './writes.ts';

export const StaticBackendEntry = entrySchema('StaticBackendEntry', 'static_backends', {
  ...textFields,
  address: Type.String({
    description: 'Where traffic is sent, as host:port. An IPv6 address stands in brackets.',
    examples: ['app.internal:8080'],
  }),
  tls: Type.Optional(
    Type.Object(
      {
        enabled: Type.Optional(
          Type.Boolean({
            description: 'true: traffic is sent to the address over TLS. false: as it is.',
            default: false,
          }),
        ),
      },
      { description: 'How the address is spoken to.', additionalProperties: false },
    ),
  ),
});

interface BackendFields extends TextFields {
  readonly address: string;
  readonly tls?: { readonly enabled?: boolean };
}

export function staticBackendKind(): ConfigurationKind {
  return defineKind({
    kind: 'static_backends',
    noun: 'static backend',
    scope: 'backend',
    table: staticBackends,
    changeKinds: ['static_backend'],
    schema: StaticBackendEntry,
    errors: [addressWithoutHost, backendInUse, invalidAddress],
    suggestName: ({ description, address }) => description ?? address,
    describe: async (_queries, backends) => backends.map(toFields),
    accept: async (fields) => toFields({ ...read(fields), address: acceptAddress(read(fields).address) }),
    create: ({ transaction, call }, fields) => writes.create(transaction, { ...call, body: read(fields) }),
    async update({ transaction, call }, backend, fields) {
      const { address, tls, ...texts } = read(fields);
      const body = { ...textsToSet(texts), address, tls: { enabled: tls?.enabled ?? false } };
      await writes.update(transaction, { ...call, body }, backend);
    },
    remove: ({ transaction, call }, backend) => writes.remove(transaction, call, backend),
  });
}

function toFields({ address, tls, ...texts }: BackendFields): EntryFields {
  return { ...textsOf(texts), address, ...(tls?.enabled === true ? { tls: { enabled: true } } : {}) };
}

function read(fields: EntryFields): BackendFields {
  // The entry has passed its schema.
  return fields as unknown as BackendFields;
}
