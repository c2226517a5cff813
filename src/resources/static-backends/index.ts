import { Type } from 'typebox';

import { crudOperations } from '../../api/crud.ts';
import { booleanIn, commonFields, textIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { textFieldErrors, textFields } from '../../api/body/text-fields.ts';
import { viewFields } from '../../api/body/view-fields.ts';
import { configurationKinds } from '../configuration-kind.ts';
import { ownedByProcesses } from '../processes/service.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { backendCompiler } from './compile.ts';
import { addressErrors, balanceOf } from './balance.ts';
import { balanceInputs, balanceViews } from './balance-schema.ts';
import { StaticBackendEntry, staticBackendKind } from './configuration.ts';
import {
  addressRequired,
  backendDescriptionTooLong,
  backendInUse,
  backendMetadataTooLong,
  backendNotFound,
} from './errors.ts';
import * as errors from './errors.ts';
import { healthOperation, StaticBackendHealthView, watchedOf } from './health.ts';
import { removeReportsOf } from './health-table.ts';
import { watchedBackends } from './service.ts';
import { migrations, staticBackends } from './table.ts';
import { warnInward } from './warn-inward.ts';
import { path, referable, staticBackendWrites } from './writes.ts';

const address = Type.String({
  description: 'Where traffic is sent, as host:port. Write an IPv6 address in brackets.',
  examples: ['app.internal:8080', '[2001:db8::10]:8080'],
});
const tlsText = 'true: the gateway speaks TLS to the address. false: it does not.';
const tlsEnabled = Type.Boolean({ description: tlsText });
const tlsInput = (enabled: typeof tlsEnabled) =>
  Type.Optional(
    Type.Object(
      { enabled: Type.Optional(enabled) },
      { description: 'How the address is spoken to.', additionalProperties: false },
    ),
  );

const itsAddress = 'A static backend has "address", such as "app.internal:8080", and "tls":{"enabled":true} for https.';

const StaticBackendView = Type.Object(
  {
    ...viewFields('static backend'),
    address,
    tls: Type.Object({ enabled: tlsEnabled }, { description: 'How the address is spoken to.' }),
    ...balanceViews,
  },
  { $id: 'StaticBackend' },
);
const StaticBackendCreate = Type.Object(
  {
    ...textFields,
    address: Type.Optional(address),
    tls: tlsInput(Type.Boolean({ description: tlsText, default: false })),
    ...balanceInputs,
  },
  { $id: 'StaticBackendCreate', additionalProperties: false },
);
const StaticBackendUpdate = Type.Object(
  { ...textFields, address: Type.Optional(address), tls: tlsInput(tlsEnabled), ...balanceInputs },
  { $id: 'StaticBackendUpdate', additionalProperties: false },
);

function staticBackendOperations({ store, services }: ResourceContext): readonly Operation[] {
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
    filterFields: {
      ...commonFields,
      address: textIn('address'),
      'tls.enabled': booleanIn('tls', 'enabled'),
    },
    takesNewId: true,
    view: StaticBackendView,
    createBody: StaticBackendCreate,
    updateBody: StaticBackendUpdate,
    fieldErrors: textFieldErrors(backendDescriptionTooLong, backendMetadataTooLong),
    misplacedFields: { host: itsAddress, port: itsAddress, url: itsAddress },
    errors: {
      create: [backendDescriptionTooLong, backendMetadataTooLong, addressRequired, ...addressErrors],
      update: [backendDescriptionTooLong, backendMetadataTooLong, addressRequired, ...addressErrors],
      delete: [backendInUse],
    },
    async create(transaction, call) {
      const backend = await staticBackendWrites.create(transaction, call);
      await warnInward(services, transaction, call, backend);
      return backend;
    },
    async update(transaction, call, previous) {
      const backend = await staticBackendWrites.update(transaction, call, previous);
      await warnInward(services, transaction, call, backend);
      return backend;
    },
    remove: (transaction, call, backend) => staticBackendWrites.remove(transaction, call, backend),
    restore: (transaction, call, wanted, current) =>
      current === undefined
        ? staticBackendWrites.create(transaction, { ...call, body: wanted, newId: wanted.id })
        : staticBackendWrites.replace(transaction, { ...call, body: wanted }, current),
    present: (backend, { uri }) => ({
      id: backend.id,
      uri: uri(`${path}/${backend.id}`),
      created_at: backend.created_at,
      description: backend.description,
      metadata: backend.metadata,
      address: backend.address,
      tls: backend.tls,
      ...balanceOf(backend),
    }),
  });
}

export const staticBackendsResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [StaticBackendView, StaticBackendHealthView, StaticBackendCreate, StaticBackendUpdate, StaticBackendEntry],
  operations: (context) => [...staticBackendOperations(context), healthOperation(context)],
  compilers: () => [backendCompiler],
  referables: [referable],
  provide(context) {
    const { services } = context;
    services.add(configurationKinds, staticBackendKind());
    services.provide(watchedBackends, watchedOf(context));
    services.add(ownedByProcesses, { removeOf: removeReportsOf });
  },
};
