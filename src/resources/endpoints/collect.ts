import { hasPrefix } from '../../lib/ids.ts';
import type { Page } from '../../store/table.ts';
import { edgeAddresses } from '../edges/service.ts';
import type { EdgeAddresses } from '../edges/service.ts';
import type { ResourceContext } from '../resource.ts';
import type { Services } from '../services.ts';
import { agentTunnels } from '../tunnels/service.ts';
import type { AgentTunnels } from '../tunnels/service.ts';
import { secureUrl } from '../visitor-urls.ts';
import { cloudEndpoints, partsOf } from './table.ts';
import type { CloudEndpoint } from './table.ts';
import { edgeBoundOf, endpointIdOf } from './endpoint-ids.ts';

type Tunnel = Awaited<ReturnType<AgentTunnels['page']>>[number];

interface Shared {
  readonly id: string;
  readonly created_at: string;
  readonly proto: string;
  readonly hostport: string;
  readonly url: string;
}

export type Endpoint =
  | (Shared & { readonly type: 'ephemeral'; readonly tunnel: Tunnel })
  | (Shared & { readonly type: 'cloud'; readonly cloud: CloudEndpoint })
  | (Shared & { readonly type: 'edge'; readonly edgeId: string; readonly path: string });

const defaultPorts: Readonly<Record<string, number>> = { https: 443, http: 80, tls: 443 };

type Context = Pick<ResourceContext, 'services' | 'settings' | 'store'>;

/** The newest endpoints before the id, of agents and edges together. */
export async function collectEndpoints(context: Context, accountId: string, page: Page): Promise<readonly Endpoint[]> {
  const { services } = context;
  const sources = [
    ofAgents(services, accountId, page),
    ofCloud(context, accountId, page),
    ...services.all(edgeAddresses).map((edges) => ofEdges(context, edges, accountId, page)),
  ];
  const all = (await Promise.all(sources)).flat();
  return all.toSorted((a, b) => (a.id < b.id ? 1 : -1)).slice(0, page.limit);
}

export async function findEndpoint(context: Context, accountId: string, id: string): Promise<Endpoint | undefined> {
  const { services } = context;
  if (!hasPrefix(id, 'ep')) return undefined;
  const cloud = await context.store.find(cloudEndpoints, accountId, id);
  if (cloud !== undefined) return toCloud(cloud);
  const tunnel = await services.get(agentTunnels).find(accountId, id.replace(/^ep_/, 'tn_'));
  if (tunnel !== undefined && tunnel.labels === null) return ofTunnel(tunnel);
  for (const edges of services.all(edgeAddresses)) {
    const [edge] = await edges.page(accountId, { beforeId: edgeBoundOf(edges.prefix, id), limit: 1 });
    const found = edge && ofEdge(context, edges, edge).find((endpoint) => endpoint.id === id);
    if (found !== undefined) return found;
  }
  return undefined;
}

async function ofAgents(
  services: Services,
  accountId: string,
  { beforeId, limit }: Page,
): Promise<readonly Endpoint[]> {
  const endpoints: Endpoint[] = [];
  let before = beforeId?.replace(/^ep_/, 'tn_');
  // Tunnels of labels have no endpoint.
  while (endpoints.length < limit) {
    const tunnels = await services.get(agentTunnels).page(accountId, { beforeId: before, limit });
    for (const tunnel of tunnels) if (tunnel.labels === null) endpoints.push(ofTunnel(tunnel));
    before = tunnels.at(-1)?.id;
    if (tunnels.length < limit) break;
  }
  return endpoints;
}

async function ofCloud({ store }: Context, accountId: string, page: Page): Promise<readonly Endpoint[]> {
  return (await store.page(cloudEndpoints, accountId, page)).map(toCloud);
}

function toCloud(cloud: CloudEndpoint): Endpoint {
  const { id, created_at, url } = cloud;
  const { scheme, hostname, port } = partsOf(cloud);
  return { type: 'cloud', id, created_at, proto: scheme, hostport: `${hostname}:${port}`, url, cloud };
}

async function ofEdges(
  context: Context,
  edges: EdgeAddresses,
  accountId: string,
  { beforeId, limit }: Page,
): Promise<readonly Endpoint[]> {
  const endpoints: Endpoint[] = [];
  let before = beforeId === undefined ? undefined : edgeBoundOf(edges.prefix, beforeId);
  // Edges may be reached nowhere, and then have no endpoint.
  while (endpoints.length < limit) {
    const some = await edges.page(accountId, { beforeId: before, limit });
    for (const endpoint of some.flatMap((edge) => ofEdge(context, edges, edge)))
      if (beforeId === undefined || endpoint.id < beforeId) endpoints.push(endpoint);
    before = some.at(-1)?.id;
    if (some.length < limit) break;
  }
  return endpoints;
}

function ofEdge(
  { settings }: Context,
  { proto, path }: EdgeAddresses,
  {
    id,
    created_at,
    hostports,
  }: { readonly id: string; readonly created_at: string; readonly hostports: readonly string[] },
): readonly Endpoint[] {
  return hostports.map((hostport) => ({
    type: 'edge',
    id: endpointIdOf(id, hostport),
    created_at,
    proto,
    hostport,
    url: proto === 'tcp' ? `tcp://${hostport}` : secureUrl(proto, hostport.replace(/:\d+$/, ''), settings),
    edgeId: id,
    path,
  }));
}

function ofTunnel(tunnel: Tunnel): Endpoint {
  const { id, created_at, proto, url } = tunnel;
  const [scheme = '', rest = ''] = url.split('://');
  const hostport = /:\d+$/.test(rest) ? rest : `${rest}:${defaultPorts[scheme]}`;
  return { type: 'ephemeral', id: id.replace(/^tn_/, 'ep_'), created_at, proto, hostport, url, tunnel };
}
