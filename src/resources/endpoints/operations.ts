import { textFieldErrors } from '../../api/body/text-fields.ts';
import type { Call } from '../../api/call.ts';
import { crudOperations } from '../../api/crud.ts';
import { commonFields } from '../../api/filter/fields.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { nameOfInstallation, policiesTooLarge, wildcardOverSuffix } from '../../errors/shared.ts';
import { preparePolicy } from '../../modules/traffic-policy/service.ts';
import { reservedPorts } from '../reserved-addrs/service.ts';
import { reservedNames } from '../reserved-domains/service.ts';
import type { ResourceContext } from '../resource.ts';
import * as errors from './errors.ts';
import { EndpointCreate, EndpointUpdate } from './schema.ts';
import { cloudEndpoints, isPublic, partsOf } from './table.ts';
import type { CloudEndpoint } from './table.ts';
import { endpointView } from './view.ts';
import { endpointWrites } from './writes.ts';
import type { Queries } from '../../store/database.ts';

/** Errors of an endpoint that is written. */
export const placeErrors = [
  errors.invalidUrl,
  errors.schemeMissing,
  errors.portMissing,
  errors.wrongPort,
  errors.schemeNotServed,
  errors.invalidBinding,
  errors.notReserved,
  errors.urlTaken,
  errors.urlInUse,
  errors.poolingMixed,
  errors.poolFull,
  errors.policyMissing,
  errors.invalidPolicy,
  errors.fieldMissing,
  errors.endpointDescriptionTooLong,
  errors.endpointMetadataTooLong,
  policiesTooLarge,
  nameOfInstallation,
  wildcardOverSuffix,
];

/** The writes of cloud endpoints. Those of agents and edges are read beside them. */
export function writeOperations(context: ResourceContext): readonly Operation[] {
  const { store } = context;
  const writes = endpointWrites(context);
  const operations = crudOperations({
    store,
    table: cloudEndpoints,
    path: '/endpoints',
    noun: 'cloud endpoint',
    plural: 'cloud endpoints',
    name: 'Endpoints',
    tag: 'Endpoints',
    rights: { read: 'everyone', write: 'everyone' },
    filterFields: commonFields,
    takesNewId: true,
    isRehearsable: true,
    view: endpointView,
    createBody: EndpointCreate,
    updateBody: EndpointUpdate,
    fieldErrors: {
      ...textFieldErrors(errors.endpointDescriptionTooLong, errors.endpointMetadataTooLong),
      url: (_value, missing) => (missing ? new UserError(errors.fieldMissing, { field: 'url' }) : undefined),
      traffic_policy: (_value, missing) => (missing ? new UserError(errors.policyMissing) : undefined),
    },
    errors: {
      create: [errors.wrongEndpointType, ...placeErrors],
      update: [errors.otherScheme, ...placeErrors],
      delete: [],
    },
    prepare: ({ traffic_policy: value = '' }) => preparePolicy(value),
    create(transaction, { caller, body, newId }) {
      const { type = 'cloud' } = body;
      if (type !== '' && type !== 'cloud') throw new UserError(errors.wrongEndpointType, { type: quote(type) });
      return writes.create(transaction, caller.accountId, body, newId);
    },
    update: (transaction, { body }, previous) => writes.update(transaction, previous, body),
    remove: (transaction, _call, endpoint) => writes.remove(transaction, endpoint),
    presentAll: (queries, found, call) =>
      Promise.all(found.map((endpoint) => presentCloud(context, queries, endpoint, call))),
  });
  return operations.filter(({ method }) => method !== 'GET');
}

/** A cloud endpoint as it is shown. */
export async function presentCloud(
  { services, settings }: Pick<ResourceContext, 'services' | 'settings'>,
  queries: Queries,
  endpoint: CloudEndpoint,
  { uri }: Call,
) {
  const { id, account_id, created_at, updated_at, url, description, metadata } = endpoint;
  const { scheme, hostname, port } = partsOf(endpoint);
  const isNamed = isPublic(endpoint) && scheme !== 'tcp';
  const domain = isNamed ? await services.get(reservedNames).find(queries, account_id, hostname) : undefined;
  const isPort = isPublic(endpoint) && scheme === 'tcp';
  const address = isPort ? await services.get(reservedPorts).find(queries, account_id, port) : undefined;
  return {
    id,
    region: settings.region,
    created_at,
    updated_at,
    type: 'cloud',
    proto: scheme,
    scheme,
    hostport: `${hostname}:${port}`,
    host: hostname,
    port,
    public_url: url,
    url,
    description,
    metadata,
    bindings: endpoint.bindings,
    pooling_enabled: endpoint.pooling_enabled,
    traffic_policy: endpoint.traffic_policy,
    ...(domain === undefined ? {} : { domain: { id: domain, uri: uri(`/reserved_domains/${domain}`) } }),
    ...(address === undefined ? {} : { tcp_addr: { id: address, uri: uri(`/reserved_addrs/${address}`) } }),
    uri: uri(`/endpoints/${id}`),
  };
}
