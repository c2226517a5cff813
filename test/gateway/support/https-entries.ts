import type {
  BackendEntry,
  HttpsEdgeEntry,
  ModuleSettings,
  PolicyEntry,
  RestrictionEntry,
  RouteEntry,
} from '../../../src/snapshot/contract.ts';
import { packRules } from './https-gateway.ts';

export function backendEntry(id: string, port: number, over: Partial<BackendEntry> = {}): BackendEntry {
  return { kind: 'backend', id, host: '127.0.0.1', port, tls: false, ...over };
}

export function edgeEntry(
  id: string,
  hosts: readonly string[],
  routes: readonly RouteEntry[],
  accountId = 'acc_1',
): HttpsEdgeEntry {
  return { kind: 'https_edge', id, accountId, hostports: hosts.map((host) => `${host}:443`), routes };
}

export function prefixRoute(match: string, modules: ModuleSettings): RouteEntry {
  return { id: `route ${match}`, matchType: 'path_prefix', match, modules };
}

export function exactRoute(match: string, modules: ModuleSettings): RouteEntry {
  return { id: `route =${match}`, matchType: 'exact_path', match, modules };
}

export function toBackend(id: string): ModuleSettings {
  return { backend: { enabled: true, backend_id: id } };
}

export function requestHeaders(add: Readonly<Record<string, string>>, remove: readonly string[]): ModuleSettings {
  return { request_headers: { enabled: true, add, remove } };
}

export function responseHeaders(add: Readonly<Record<string, string>>, remove: readonly string[]): ModuleSettings {
  return { response_headers: { enabled: true, add, remove } };
}

export function ipRestriction(...policyIds: readonly string[]): ModuleSettings {
  return { ip_restriction: { enabled: true, ip_policy_ids: policyIds } };
}

export function allowPolicy(id: string, ...cidrs: readonly string[]): PolicyEntry {
  return { kind: 'policy', id, rules: packRules(cidrs, 1) };
}

export function restriction(id: string, enforced: boolean, ...policyIds: readonly string[]): RestrictionEntry {
  return { kind: 'restriction', id, accountId: 'acc_1', type: 'endpoints', enforced, policyIds };
}

/** A traffic policy, as text or as what its JSON says. */
export function trafficPolicy(document: string | object): ModuleSettings {
  const value = typeof document === 'string' ? document : JSON.stringify(document);
  return { traffic_policy: { enabled: true, value } };
}
