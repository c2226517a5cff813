import { Type } from 'typebox';

import { crudOperations } from '../../api/crud.ts';
import { descriptionTooLong, metadataTooLong } from '../../api/errors.ts';
import { commonFields, textIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { textFieldErrors, textFields } from '../../api/body/text-fields.ts';
import { viewFields } from '../../api/body/view-fields.ts';
import { configurationKinds } from '../configuration-kind.ts';
import { portHolders } from '../port-holders.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { ReservedAddrEntry, reservedAddrKind } from './configuration.ts';
import { addrInUse, addrShareUsed, noFreePort } from './errors.ts';
import * as errors from './errors.ts';
import { reservedPorts } from './service.ts';
import { migrations, portHolder, reservedAddrs } from './table.ts';
import { reservedAddrWrites } from './writes.ts';

const path = '/reserved_addrs';

const ReservedAddrView = Type.Object(
  {
    ...viewFields('reserved address'),
    addr: Type.String({ description: 'The address, as host:port. It was assigned, and stays the same.' }),
    region: Type.String({ description: 'As it was given, or the region of this installation; nothing depends on it.' }),
  },
  { $id: 'ReservedAddr' },
);
const ReservedAddrCreate = Type.Object(
  {
    ...textFields,
    region: Type.Optional(
      Type.String({ description: 'Kept, and without effect.', maxBytes: 64, wellFormed: true, examples: ['us'] }),
    ),
  },
  { $id: 'ReservedAddrCreate', additionalProperties: false },
);
const ReservedAddrUpdate = Type.Object(textFields, { $id: 'ReservedAddrUpdate', additionalProperties: false });

function reservedAddrOperations({ store, services, settings }: ResourceContext): readonly Operation[] {
  const writes = reservedAddrWrites({ services, settings });
  return crudOperations({
    rights: { read: 'everyone', write: 'everyone' },
    store,
    table: reservedAddrs,
    path,
    noun: 'reserved address',
    whyGone: 'ports are given, not chosen, and its own may be another one’s by now',
    plural: 'reserved addresses',
    name: 'ReservedAddrs',
    tag: 'Reserved addresses',
    listKey: 'reserved_addrs',
    filterFields: {
      ...commonFields,
      addr: textIn('addr'),
      region: textIn('region'),
    },
    view: ReservedAddrView,
    createBody: ReservedAddrCreate,
    updateBody: ReservedAddrUpdate,
    fieldErrors: textFieldErrors(descriptionTooLong, metadataTooLong),
    errors: {
      create: [descriptionTooLong, metadataTooLong, noFreePort, addrShareUsed],
      update: [descriptionTooLong, metadataTooLong],
      delete: [addrInUse],
    },
    create: (transaction, { caller, body }) => writes.create(transaction, caller.accountId, body),
    update: (transaction, { body }, previous) => writes.update(transaction, previous, body),
    remove: (transaction, _call, reserved) => writes.remove(transaction, reserved),
    present: ({ id, created_at, description, metadata, addr, region }, { uri }) => ({
      id,
      uri: uri(`${path}/${id}`),
      created_at,
      description,
      metadata,
      addr,
      region,
    }),
  });
}

/** TCP addresses that belong to an account, whether or not an edge or an agent uses them. */
export const reservedAddrsResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [ReservedAddrView, ReservedAddrCreate, ReservedAddrUpdate, ReservedAddrEntry],
  operations: reservedAddrOperations,
  provide(context) {
    const { services } = context;
    services.add(configurationKinds, reservedAddrKind(context));
    services.add(portHolders, portHolder);
    services.provide(reservedPorts, {
      async find(queries, accountId, port) {
        const owner = await portHolder.ownerOf(queries, port);
        return owner?.accountId === accountId ? owner.id : undefined;
      },
    });
  },
};
