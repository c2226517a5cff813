import { Type } from 'typebox';

import { crudOperations } from '../../api/crud.ts';
import type { Operation } from '../../api/operation.ts';
import { textFieldErrors, textFields, withText } from '../../api/text-fields.ts';
import { UserError } from '../../errors/user-error.ts';
import { createReferable, listShort } from '../references.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { acceptAddress } from './address.ts';
import { backendCompiler } from './compile.ts';
import {
  addressRequired,
  addressWithoutHost,
  backendDescriptionTooLong,
  backendInUse,
  backendMetadataTooLong,
  backendNotFound,
  invalidAddress,
} from './errors.ts';
import * as errors from './errors.ts';
import { migrations, staticBackends } from './table.ts';

const path = '/backends/static';
const referable = createReferable({ kind: 'backend', path, table: 'static_backends', documents: staticBackends });

const address = Type.String({
  description: 'Where traffic is sent, as host:port. An IPv6 address stands in brackets.',
  examples: ['app.internal:8080', '[2001:db8::10]:8080'],
});
const tlsText = 'true: traffic is sent to the address over TLS. false: as it is.';
const tlsEnabled = Type.Boolean({ description: tlsText });
const tlsInput = (enabled: typeof tlsEnabled) =>
  Type.Optional(
    Type.Object(
      { enabled: Type.Optional(enabled) },
      { description: 'How the address is spoken to.', additionalProperties: false },
    ),
  );

const StaticBackendView = Type.Object(
  {
    id: Type.String({ description: 'Unique identifier of the static backend.' }),
    uri: Type.String({ description: "URI of this backend's resource." }),
    created_at: Type.String({ format: 'date-time', description: 'Creation time, RFC 3339.' }),
    ...textFields,
    address,
    tls: Type.Object({ enabled: tlsEnabled }, { description: 'How the address is spoken to.' }),
  },
  { $id: 'StaticBackend' },
);
const StaticBackendCreate = Type.Object(
  { ...textFields, address, tls: tlsInput(Type.Boolean({ description: tlsText, default: false })) },
  { $id: 'StaticBackendCreate', additionalProperties: false },
);
const StaticBackendUpdate = Type.Object(
  { ...textFields, address: Type.Optional(address), tls: tlsInput(tlsEnabled) },
  { $id: 'StaticBackendUpdate', additionalProperties: false },
);

function staticBackendOperations({ store }: ResourceContext): readonly Operation[] {
  return crudOperations({
    rights: { read: 'everyone', write: 'everyone' },
    store,
    table: staticBackends,
    path,
    noun: 'static backend',
    plural: 'static backends',
    notFoundError: backendNotFound,
    name: 'StaticBackends',
    tag: 'Static backends',
    listKey: 'backends',
    view: StaticBackendView,
    createBody: StaticBackendCreate,
    updateBody: StaticBackendUpdate,
    fieldErrors: {
      ...textFieldErrors(backendDescriptionTooLong, backendMetadataTooLong),
      address: (_value, missing) => (missing ? new UserError(addressRequired) : undefined),
    },
    errors: {
      create: [backendDescriptionTooLong, backendMetadataTooLong, addressRequired, invalidAddress, addressWithoutHost],
      update: [backendDescriptionTooLong, backendMetadataTooLong, invalidAddress, addressWithoutHost],
      delete: [backendInUse],
    },
    async create(transaction, { caller, body }) {
      const first = staticBackends.newDocument(caller.accountId);
      const settings = { address: acceptAddress(body.address), tls: { enabled: body.tls?.enabled ?? false } };
      return staticBackends.insert(transaction, withText({ ...first, ...settings }, body));
    },
    async update(transaction, { body }, previous) {
      // Official clients send "" and {} for what was not given.
      const changed = {
        ...previous,
        address: acceptAddress(body.address || previous.address),
        tls: { enabled: body.tls?.enabled ?? previous.tls.enabled },
      };
      return staticBackends.update(transaction, previous, withText(changed, body));
    },
    async remove(transaction, _call, backend) {
      const users = await referable.referrersOf(transaction, backend.id);
      if (users.length > 0) throw new UserError(backendInUse, { backend: backend.id, users: listShort(users) });
      await staticBackends.delete(transaction, backend);
    },
    present: (backend, { uri }) => ({
      id: backend.id,
      uri: uri(`${path}/${backend.id}`),
      created_at: backend.created_at,
      description: backend.description,
      metadata: backend.metadata,
      address: backend.address,
      tls: backend.tls,
    }),
  });
}

export const staticBackendsResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [StaticBackendView, StaticBackendCreate, StaticBackendUpdate],
  operations: staticBackendOperations,
  compilers: () => [backendCompiler],
  referables: [referable],
};
