import { Type } from 'typebox';

import { textFields } from '../../api/body/text-fields.ts';
import type { TextFields } from '../../api/body/text-fields.ts';
import { UserError } from '../../errors/user-error.ts';
import { defineKind, textsOf, textsToSet } from '../configuration-kind.ts';
import type { ConfigurationKind, EntryFields } from '../configuration-kind.ts';
import { entrySchema } from '../configuration-schema.ts';
import type { ResourceContext } from '../resource.ts';
import { addrInUse, addrShareUsed, noFreePort, portFixed, portNotFree, portNotReservable } from './errors.ts';
import { portOf, reservedAddrs } from './table.ts';
import { reservedAddrWrites } from './writes.ts';

export const ReservedAddrEntry = entrySchema('ReservedAddrEntry', 'reserved_addrs', {
  ...textFields,
  port: Type.Integer({
    description:
      'The TCP port that no other account can use; its host is that of the installation. Fixed after creation.',
    minimum: 1,
    maximum: 65_535,
    examples: [10_022],
  }),
});

interface AddrFields extends TextFields {
  readonly port: number;
}

export function reservedAddrKind(context: Pick<ResourceContext, 'services' | 'settings'>): ConfigurationKind {
  const writes = reservedAddrWrites(context);
  return defineKind({
    kind: 'reserved_addrs',
    noun: 'reserved address',
    scope: 'reserved_addr',
    table: reservedAddrs,
    changeKinds: ['reserved_addr'],
    fixed: ['port'],
    schema: ReservedAddrEntry,
    errors: [addrInUse, addrShareUsed, noFreePort, portFixed, portNotFree, portNotReservable],
    suggestName: ({ description, addr }) => description ?? `port-${portOf(addr)}`,
    describe: async (_queries, addrs) => addrs.map(({ addr, ...texts }) => toFields({ ...texts, port: portOf(addr) })),
    accept: async (fields) => toFields(read(fields)),
    create({ transaction, call }, fields) {
      const { port, ...texts } = read(fields);
      return writes.create(transaction, call.caller.accountId, texts, port);
    },
    async update({ transaction }, reserved, fields) {
      const { port, ...texts } = read(fields);
      if (port !== portOf(reserved.addr)) throw new UserError(portFixed, { port: portOf(reserved.addr) });
      await writes.update(transaction, reserved, textsToSet(texts));
    },
    remove: ({ transaction }, reserved) => writes.remove(transaction, reserved),
    claims: (fields) => claimsIn(read(fields)),
  });
}

function toFields({ port, ...texts }: AddrFields): EntryFields {
  return { ...textsOf(texts), port };
}

/** The fields of a deletion are empty. */
function claimsIn({ port }: Partial<AddrFields>): readonly string[] {
  return port === undefined ? [] : [String(port)];
}

function read(fields: EntryFields): AddrFields {
  // The entry has passed its schema.
  return fields as unknown as AddrFields;
}
