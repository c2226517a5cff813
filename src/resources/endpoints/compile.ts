import type { Compiler } from '../../publisher/compiler.ts';
import type { ModuleSettings, SnapshotEntry } from '../../snapshot/contract.ts';
import type { ResourceSettings } from '../resource.ts';
import { documentAt } from '../visited-entries.ts';
import type { VisitedEntries } from '../visited-entries.ts';
import { cloudEndpoints, isPublic, partsOf } from './table.ts';
import type { CloudEndpoint } from './table.ts';

const kinds = ['https_edge', 'tcp_edge', 'tls_endpoint', 'internal_endpoint'] as const;

/** A cloud endpoint is an edge like any other, or an internal endpoint; its traffic policy is all that it has. */
export function cloudCompilers(settings: Pick<ResourceSettings, 'httpsPort'>): readonly Compiler[] {
  return kinds.map((kind) => ({
    kind,
    affectedIds: (change) => (change.kind === cloudEndpoints.kind ? [change.id] : []),
    async load(queries, ids) {
      const endpoints = await cloudEndpoints.loadMany(queries, ids);
      return endpoints.map((endpoint) => toEntry(endpoint, settings)).filter((entry) => entry.kind === kind);
    },
  }));
}

/** A cloud endpoint as it is or was. */
export function visitedEndpoints(settings: Pick<ResourceSettings, 'httpsPort'>): VisitedEntries {
  return {
    prefix: cloudEndpoints.prefix,
    changeKinds: [cloudEndpoints.kind],
    async load(queries, accountId, id, past) {
      const endpoint = await documentAt(cloudEndpoints, queries, accountId, id, past);
      return endpoint && toEntry(endpoint, settings);
    },
  };
}

function toEntry(endpoint: CloudEndpoint, { httpsPort }: Pick<ResourceSettings, 'httpsPort'>): SnapshotEntry {
  const { id, account_id: accountId, url, pooling_enabled } = endpoint;
  const modules: ModuleSettings = { traffic_policy: { enabled: true, value: endpoint.traffic_policy } };
  if (!isPublic(endpoint)) return { kind: 'internal_endpoint', id, accountId, url, modules };
  const { scheme, hostname, port } = partsOf(endpoint);
  const shared = { id, accountId, ...(pooling_enabled && { isPooled: true as const }) };
  if (scheme === 'tcp') return { kind: 'tcp_edge', ...shared, ports: [port], modules };
  if (scheme === 'tls') return { kind: 'tls_endpoint', ...shared, names: [hostname], modules };
  const isPlain = scheme === 'http';
  return {
    kind: 'https_edge',
    ...shared,
    hostports: [`${hostname}:${isPlain ? port : httpsPort}`],
    routes: [{ id, matchType: 'path_prefix', match: '/', modules }],
    ...(isPlain && { plain: 'only' as const }),
  };
}
