import { Type } from 'typebox';

import { textFields } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { defineKind, textsOf } from '../configuration-kind.ts';
import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { entrySchema } from '../configuration-schema.ts';
import { acceptBalance, addressErrors, balanceOf } from './balance.ts';
import type { BalanceSettings } from './balance.ts';
import { balanceInputs } from './balance-schema.ts';
import { addressRequired, backendInUse } from './errors.ts';
import { staticBackends } from './table.ts';
import { staticBackendWrites as writes } from './writes.ts';
import type { BackendUpdate } from './writes.ts';

export const StaticBackendEntry = entrySchema('StaticBackendEntry', 'static_backends', {
  ...textFields,
  address: Type.Optional(
    Type.String({
      description: 'Where traffic is sent, as host:port. Write an IPv6 address in brackets. Needed without addresses.',
      examples: ['app.internal:8080'],
    }),
  ),
  tls: Type.Optional(
    Type.Object(
      {
        enabled: Type.Optional(
          Type.Boolean({
            description: 'true: the gateway speaks TLS to the address. false: it does not.',
            default: false,
          }),
        ),
      },
      { description: 'How the address is spoken to.', additionalProperties: false },
    ),
  ),
  ...balanceInputs,
});

export function staticBackendKind(): ConfigurationKind {
  return defineKind({
    kind: 'static_backends',
    noun: 'static backend',
    scope: 'backend',
    table: staticBackends,
    changeKinds: ['static_backend'],
    schema: StaticBackendEntry,
    errors: [addressRequired, backendInUse, ...addressErrors],
    suggestName: ({ description, address }) => description ?? address,
    describe: async (_queries, backends) => backends.map(toFields),
    accept: async (fields) => toFields(acceptFields(read(fields))),
    create: ({ transaction, call }, fields) => writes.create(transaction, { ...call, body: read(fields) }),
    async update({ transaction, call }, backend, fields) {
      await writes.replace(transaction, { ...call, body: read(fields) }, backend);
    },
    remove: ({ transaction, call }, backend) => writes.remove(transaction, call, backend),
  });
}

function acceptFields(body: BackendUpdate): Parameters<typeof toFields>[0] {
  const { description, metadata, tls } = body;
  return {
    ...(description !== undefined && { description }),
    ...(metadata !== undefined && { metadata }),
    ...(tls && { tls }),
    ...acceptBalance(body, {}),
  };
}

/** With several addresses, the first is not repeated. */
function toFields(backend: TextFields & BalanceSettings & Pick<BackendUpdate, 'address' | 'tls'>): EntryFields {
  const { description, metadata, address, tls } = backend;
  const { addresses, ...settings } = balanceOf(backend);
  return {
    ...textsOf({ ...(description !== undefined && { description }), ...(metadata !== undefined && { metadata }) }),
    ...(addresses === undefined ? { address } : { addresses: addresses.map(withoutOne) }),
    ...(tls?.enabled === true ? { tls: { enabled: true } } : {}),
    ...settings,
  };
}

/** A weight of 1 is left out, as the files of one that was written by hand have it. */
function withoutOne({ address, weight }: { readonly address: string; readonly weight: number }) {
  return weight === 1 ? { address } : { address, weight };
}

function read(fields: EntryFields): BackendUpdate {
  // The entry has passed its schema.
  return fields;
}
