import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { notFound } from '../../api/errors.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { cutPage } from '../../api/filter/filtered-list.ts';
import { readFilter } from '../../api/filter/read-filter.ts';
import { setEtag } from '../../api/http/etag.ts';
import { filterName } from '../../api/http/query.ts';
import { pageSchema, presentPage } from '../../api/list-page.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { isInternalName } from '../../lib/endpoint-url.ts';
import { hasPrefix } from '../../lib/ids.ts';
import type { Page } from '../../store/table.ts';
import { configurationKinds } from '../configuration-kind.ts';
import { edgeModules } from '../edges/service.ts';
import { hostnameHolders } from '../hostname-holders.ts';
import { portHolders } from '../port-holders.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { agentTunnels } from '../tunnels/service.ts';
import { cloudService } from './cloud.ts';
import { collectEndpoints, findEndpoint } from './collect.ts';
import type { Endpoint } from './collect.ts';
import { visitedEntries } from '../visited-entries.ts';
import { cloudCompilers, visitedEndpoints } from './compile.ts';
import { CloudEndpointEntry, cloudEndpointKind } from './configuration.ts';
import * as errors from './errors.ts';
import { filteredEndpoints, filterFields } from './filtered.ts';
import { presentCloud, writeOperations } from './operations.ts';
import { EndpointCreate, EndpointUpdate } from './schema.ts';
import { cloudEndpointService } from './service.ts';
import { cloudNames, cloudPorts, migrations } from './table.ts';
import { endpointView } from './view.ts';

const path = '/endpoints';
const prefix = 'ep';
const tag = 'Endpoints';

const EndpointsPage = pageSchema('Endpoints', 'endpoints', Type.Ref('Endpoint'));

function endpointOperations(context: ResourceContext): readonly Operation[] {
  const { store, settings, services } = context;
  const present = async (endpoint: Endpoint, call: Call) => {
    if (endpoint.type === 'cloud') return presentCloud(context, store.queries, endpoint.cloud, call);
    const shown = presentEndpoint(endpoint, settings.region, call);
    if (endpoint.type === 'edge') return shown;
    const ownerId = await services.get(agentTunnels).ownerOf(endpoint.tunnel);
    return ownerId === undefined ? shown : { ...shown, principal: principalRef(ownerId, call) };
  };
  return [
    ...writeOperations(context),
    operation({
      method: 'GET',
      path,
      operationId: 'EndpointsList',
      summary: 'List endpoints',
      description:
        'Where visitors come in: endpoints of agents that are online, hostports of edges, and cloud endpoints. Newest first.',
      tag,
      rights: 'everyone',
      listedPrefix: prefix,
      filterFields,
      mayBeLarge: true,
      status: 200,
      response: EndpointsPage,
      errors: [],
      handle: async (call) => {
        const { page, filters, caller } = call;
        const read = async (wanted: Page) => {
          const found = await collectEndpoints(context, caller.accountId, wanted);
          return Promise.all(found.map((endpoint) => present(endpoint, call)));
        };
        const condition = readFilter(filters[filterName], filterFields);
        const { documents, nextBefore } =
          condition === undefined
            ? cutPage(await read({ ...page, limit: page.limit + 1 }), page.limit)
            : await filteredEndpoints(store, read, call, condition);
        return presentPage(call, path, 'endpoints', documents, nextBefore);
      },
    }),
    operation({
      method: 'GET',
      path: `${path}/{id}`,
      operationId: 'EndpointsGet',
      summary: 'Get endpoint',
      tag,
      rights: 'everyone',
      status: 200,
      response: endpointView,
      errors: [notFound],
      handle: async (call) => {
        const { id = '' } = call.params;
        const endpoint = await findEndpoint(context, call.caller.accountId, id);
        if (endpoint === undefined) throw new UserError(notFound, { noun: 'endpoint', id: quote(id) });
        if (endpoint.type === 'cloud') setEtag(call, endpoint.cloud);
        return present(endpoint, call);
      },
    }),
  ];
}

/** Users are at no path of the API. */
function principalRef(id: string, { uri }: Call) {
  return { id, uri: hasPrefix(id, 'bot') ? uri(`/bot_users/${id}`) : '' };
}

function presentEndpoint(endpoint: Exclude<Endpoint, { readonly type: 'cloud' }>, region: string, { uri }: Call) {
  const { id, created_at, proto, hostport, url } = endpoint;
  const at = hostport.lastIndexOf(':');
  const shared = {
    id,
    region,
    created_at,
    updated_at: created_at,
    proto,
    scheme: proto,
    hostport,
    host: hostport.slice(0, at),
    port: Number(hostport.slice(at + 1)),
    public_url: url,
    bindings: [isInternalName(hostport.slice(0, at)) ? 'internal' : 'public'],
    pooling_enabled: false,
  };
  const ref = (collection: string, refId: string) => ({ id: refId, uri: uri(`${collection}/${refId}`) });
  if (endpoint.type === 'edge') return { ...shared, type: 'edge', edge: ref(endpoint.path, endpoint.edgeId) };
  const { tunnel } = endpoint;
  return {
    ...shared,
    type: 'ephemeral',
    url,
    metadata: tunnel.metadata,
    description: tunnel.description,
    name: tunnel.name,
    traffic_policy: tunnel.traffic_policy,
    tunnel: ref('/tunnels', tunnel.id),
    tunnel_session: ref('/tunnel_sessions', tunnel.session_id),
    upstream_url: tunnel.forwards_to,
    upstream_protocol: tunnel.forwards_proto,
    pooling_enabled: tunnel.pooling_enabled,
  };
}

/** Modules that visitors of an endpoint meet; undefined for those of edges, which are asked about themselves. */
async function modulesOf(context: ResourceContext, accountId: string, id: string) {
  const endpoint = await findEndpoint(context, accountId, id);
  if (endpoint === undefined || endpoint.type === 'edge') return undefined;
  if (endpoint.type === 'ephemeral') return context.services.get(agentTunnels).modulesOf(endpoint.tunnel);
  return { traffic_policy: { enabled: true, value: endpoint.cloud.traffic_policy } };
}

/** Where visitors come in, whatever is behind it. Those of agents and edges come with these, cloud endpoints by calls. */
export const endpointsResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [CloudEndpointEntry, endpointView, EndpointsPage, EndpointCreate, EndpointUpdate],
  operations: endpointOperations,
  compilers: ({ settings }) => cloudCompilers(settings),
  provide(context) {
    const { services } = context;
    services.add(configurationKinds, cloudEndpointKind(context));
    services.provide(cloudEndpointService, cloudService);
    services.add(hostnameHolders, cloudNames);
    services.add(portHolders, cloudPorts);
    services.add(visitedEntries, visitedEndpoints(context.settings));
    services.add(edgeModules, { prefix, find: (accountId, id) => modulesOf(context, accountId, id) });
  },
};
