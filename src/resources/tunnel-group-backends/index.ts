import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { crudOperations } from '../../api/crud.ts';
import { commonFields, mapIn } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { textFieldErrors, textFields } from '../../api/body/text-fields.ts';
import { viewFields } from '../../api/body/view-fields.ts';
import type { Queries } from '../../store/database.ts';
import { configurationKinds } from '../configuration-kind.ts';
import { hasLabels } from '../labels.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { backendDescriptionTooLong, backendMetadataTooLong, backendNotFound } from '../static-backends/errors.ts';
import type { Services } from '../services.ts';
import { agentTunnels } from '../tunnels/service.ts';
import { anyKey } from '../../lib/any-key.ts';
import { tunnelGroupCompiler } from './compile.ts';
import { TunnelGroupBackendEntry, tunnelGroupKind } from './configuration.ts';
import { invalidLabels, tunnelGroupInUse } from './errors.ts';
import * as errors from './errors.ts';
import { tunnelGroups } from './service.ts';
import { migrations, tunnelGroupBackends } from './table.ts';
import type { TunnelGroupBackend } from './table.ts';
import { path, referable, refuseLabels, tunnelGroupWrites } from './writes.ts';

const labels = Type.Record(anyKey, Type.String(), {
  description: 'Labels by name. A tunnel belongs to the group if it has all of them; further ones do no harm.',
  examples: [{ app: 'shop' }],
});

const TunnelGroupBackendView = Type.Object(
  {
    ...viewFields('tunnel group backend'),
    labels,
    tunnels: Type.Array(Type.Ref('Ref'), { description: 'The tunnels of the group that are online now.' }),
  },
  { $id: 'TunnelGroupBackend' },
);
const TunnelGroupBackendCreate = Type.Object(
  { ...textFields, labels },
  { $id: 'TunnelGroupBackendCreate', additionalProperties: false },
);
const TunnelGroupBackendUpdate = Type.Object(
  { ...textFields, labels: Type.Optional(labels) },
  { $id: 'TunnelGroupBackendUpdate', additionalProperties: false },
);

const writeErrors = [backendDescriptionTooLong, backendMetadataTooLong, invalidLabels];

function tunnelGroupOperations({ store, services }: ResourceContext): readonly Operation[] {
  return crudOperations({
    rights: { read: 'everyone', write: 'everyone' },
    store,
    table: tunnelGroupBackends,
    path,
    noun: 'tunnel group backend',
    plural: 'tunnel group backends',
    notFoundError: backendNotFound,
    name: 'TunnelGroupBackends',
    tag: 'Tunnel group backends',
    listKey: 'backends',
    filterFields: {
      ...commonFields,
      labels: mapIn('labels'),
    },
    takesNewId: true,
    view: TunnelGroupBackendView,
    createBody: TunnelGroupBackendCreate,
    updateBody: TunnelGroupBackendUpdate,
    fieldErrors: {
      ...textFieldErrors(backendDescriptionTooLong, backendMetadataTooLong),
      labels: (_value, missing) => (missing ? refuseLabels('there is none; give at least one') : undefined),
    },
    errors: { create: writeErrors, update: writeErrors, delete: [tunnelGroupInUse] },
    ...tunnelGroupWrites,
    presentAll: (queries, backends, call) => presentAll(services, queries, backends, call),
  });
}

async function presentAll(
  services: Services,
  queries: Queries,
  backends: readonly TunnelGroupBackend[],
  { uri }: Call,
): Promise<readonly object[]> {
  const shown: object[] = [];
  for (const { id, account_id, created_at, description, metadata, labels: wanted } of backends) {
    const online = await services.get(agentTunnels).withLabels(queries, account_id, wanted);
    const tunnels = online.map((tunnel) => ({ id: tunnel.id, uri: uri(`/tunnels/${tunnel.id}`) }));
    shown.push({ id, uri: uri(`${path}/${id}`), created_at, description, metadata, labels: wanted, tunnels });
  }
  return shown;
}

/** Backends that stand for the tunnels of agents which carry certain labels. */
export const tunnelGroupsResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [TunnelGroupBackendView, TunnelGroupBackendCreate, TunnelGroupBackendUpdate, TunnelGroupBackendEntry],
  operations: tunnelGroupOperations,
  compilers: ({ services }) => [tunnelGroupCompiler(services)],
  referables: [referable],
  provide({ services }) {
    services.add(configurationKinds, tunnelGroupKind());
    services.provide(tunnelGroups, {
      path,
      async matching(queries, accountId, given) {
        const sql = 'SELECT document FROM tunnel_group_backends WHERE account_id = $1 ORDER BY id';
        const all = (await queries.all(sql, [accountId])).map((row) => tunnelGroupBackends.parse(row));
        return all.filter((group) => hasLabels(given, group.labels));
      },
    });
  },
};
