import type { Compiler } from '../../publisher/compiler.ts';
import type { Sealer } from '../../lib/sealed-secret.ts';
import type { ModuleSettings, SnapshotEntry, TlsEndpointEntry } from '../../snapshot/contract.ts';
import type { Queries } from '../../store/database.ts';
import { cloudEndpointService } from '../endpoints/service.ts';
import type { Services } from '../services.ts';
import type { VisitedEntries } from '../visited-entries.ts';
import { membersOf } from './rows.ts';
import { tunnelClaims, tunnels } from './table.ts';
import type { Tunnel, TunnelClaim } from './table.ts';

/** Something of agents that the gateway gets an entry for: an endpoint, or the part of it that one agent has. */
interface Served {
  /** Of the endpoint, or of the tunnel. */
  readonly id: string;
  readonly claim: TunnelClaim;
  readonly members: readonly Tunnel[];
  readonly modules: ModuleSettings;
  readonly isPooled: boolean;
}

type MakeEntry = (served: Served) => SnapshotEntry | undefined;

interface Parts {
  readonly httpsPort: number;
  readonly sealer: Sealer;
  readonly services: Services;
}

/**
 * An endpoint of an agent is an edge like any other, with a backend of its own. It stays while its claim is held. An agent with a traffic
 * policy has an entry of its own, which shares the name: others may have the same name with another policy.
 */
export function endpointCompilers({ httpsPort, sealer, services }: Parts): readonly Compiler[] {
  const makers: readonly (readonly [SnapshotEntry['kind'], MakeEntry])[] = [
    ['https_edge', (served) => httpsEdge(served, httpsPort)],
    ['tcp_edge', tcpEdge],
    ['tls_endpoint', (served) => tlsEndpoint(served, sealer)],
    ['internal_endpoint', internalEndpoint],
    ['tunnel_backend', tunnelBackend],
  ];
  return makers.flatMap(([kind, toEntry]) => [ofClaims(kind, toEntry, services), ofTunnels(kind, toEntry)]);
}

/** Endpoints of agents as they are; the change log does not have them. */
export function visitedTunnels(parts: Parts): readonly VisitedEntries[] {
  const compilers = endpointCompilers(parts).filter(({ kind }) => kind !== 'tunnel_backend');
  return [tunnelClaims.prefix, tunnels.prefix].map((prefix) => ({
    prefix,
    changeKinds: undefined,
    async load(queries, accountId, id, past) {
      if (past !== undefined) return undefined;
      for (const compiler of compilers)
        for (const entry of await compiler.load(queries, [id]))
          if ('accountId' in entry && entry.accountId === accountId) return entry;
      return undefined;
    },
  }));
}

/** Endpoints whose agents have no policy, or are expected back. */
function ofClaims(kind: SnapshotEntry['kind'], toEntry: MakeEntry, services: Services): Compiler {
  return {
    kind,
    affectedIds: (change) => (change.kind === tunnelClaims.kind ? [change.id] : []),
    async load(queries, ids) {
      const claims = await tunnelClaims.loadMany(queries, ids);
      const members = await findMembers(queries, claims, ids === undefined);
      const entries: SnapshotEntry[] = [];
      const held = claims.filter(({ id, labels }) => labels === null && members.get(id) === undefined);
      const served = await services.get(cloudEndpointService).amongst(queries, held);
      for (const claim of claims) {
        const all = members.get(claim.id) ?? [];
        const own = all.filter((each) => each.traffic_policy === undefined);
        if (all.length > 0 && own.length === 0 && kind !== 'tunnel_backend') continue;
        // One that is expected back must not take visitors from those that are there.
        if (served.has(claim)) continue;
        const isPooled = all.length > 0 && all.every(({ pooling_enabled }) => pooling_enabled);
        const entry = toEntry({ id: claim.id, claim, members: own, modules: claim.modules, isPooled });
        if (entry !== undefined) entries.push(entry);
      }
      return entries;
    },
  };
}

/** Tunnels of agents that have a policy. */
function ofTunnels(kind: SnapshotEntry['kind'], toEntry: MakeEntry): Compiler {
  return {
    kind,
    affectedIds: (change) => (change.kind === tunnels.kind ? [change.id] : []),
    async load(queries, ids) {
      const found = await tunnels.loadMany(queries, ids);
      const withPolicy = found.filter(({ traffic_policy }) => traffic_policy !== undefined);
      const claims = await tunnelClaims.loadMany(queries, [...new Set(withPolicy.map(({ claim_id }) => claim_id))]);
      const byId = new Map(claims.map((claim) => [claim.id, claim]));
      return withPolicy.flatMap((tunnel) => {
        const { id, claim_id, traffic_policy: value, pooling_enabled: isPooled } = tunnel;
        const claim = byId.get(claim_id);
        if (claim === undefined) return [];
        const modules = { ...claim.modules, traffic_policy: { enabled: true, value } };
        return toEntry({ id, claim: { ...claim, held_until_ms: null }, members: [tunnel], modules, isPooled }) ?? [];
      });
    },
  };
}

async function findMembers(
  queries: Queries,
  claims: readonly TunnelClaim[],
  isAll: boolean,
): Promise<ReadonlyMap<string, readonly Tunnel[]>> {
  if (isAll) return Map.groupBy(await tunnels.loadMany(queries, undefined), ({ claim_id }) => claim_id);
  const members = new Map<string, readonly Tunnel[]>();
  for (const { id } of claims) {
    const found = await membersOf(queries, id);
    if (found.length > 0) members.set(id, found);
  }
  return members;
}

function httpsEdge(served: Served, httpsPort: number): SnapshotEntry | undefined {
  const { id, claim } = served;
  const { account_id, kind, hostname } = claim;
  if (kind !== 'http' || hostname === null) return undefined;
  return {
    kind: 'https_edge',
    id,
    accountId: account_id,
    hostports: [`${hostname}:${httpsPort}`],
    routes: [{ id, matchType: 'path_prefix', match: '/', modules: withBackend(served) }],
    ...(claim.plain === true && { plain: true }),
    ...pooled(served),
    observed: true,
  };
}

function tcpEdge(served: Served): SnapshotEntry | undefined {
  const { id, claim } = served;
  const { account_id: accountId, port } = claim;
  if (port === null) return undefined;
  const modules = withBackend(served);
  return { kind: 'tcp_edge', id, accountId, ports: [port], modules, ...pooled(served), observed: true };
}

function tlsEndpoint(served: Served, sealer: Sealer): SnapshotEntry | undefined {
  const { id, claim } = served;
  const { account_id: accountId, kind, hostname } = claim;
  if (kind !== 'tls' || hostname === null) return undefined;
  const entry = { kind: 'tls_endpoint', id, accountId, names: [hostname], modules: withBackend(served) } as const;
  return { ...entry, ...pooled(served), ...terminationOf(claim, sealer), observed: true };
}

function internalEndpoint(served: Served): SnapshotEntry | undefined {
  const { id, claim } = served;
  const { account_id: accountId, internal: url } = claim;
  if (url === undefined) return undefined;
  return { kind: 'internal_endpoint', id, accountId, url, modules: withBackend(served), observed: true };
}

function pooled({ isPooled }: Served): { readonly isPooled?: true } {
  return isPooled ? { isPooled } : {};
}

function terminationOf(
  { key, tls_termination }: TunnelClaim,
  sealer: Sealer,
): Pick<TlsEndpointEntry, 'termination' | 'fault'> {
  if (tls_termination === undefined || tls_termination === null) return {};
  if (tls_termination === 'own') return { termination: {} };
  const { certificate_pem: certificatePem, sealed_key } = tls_termination;
  try {
    return { termination: { pair: { certificatePem, privateKeyPem: sealer.open(sealed_key, key) } } };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { fault: `its private key cannot be used: ${reason}` };
  }
}

function tunnelBackend({ id, claim, members }: Served): SnapshotEntry | undefined {
  const { labels, proxy_proto, held_until_ms } = claim;
  if (labels !== null) return undefined;
  const proxyProtocol = proxy_proto === 0 ? {} : { proxyProtocol: proxy_proto };
  const expected = held_until_ms === null ? {} : { isExpected: true as const };
  return { kind: 'tunnel_backend', id, tunnels: members.map(toRef), ...proxyProtocol, ...expected, observed: true };
}

export function toRef({ id, process_id }: Tunnel): { readonly id: string; readonly holder: string } {
  return { id, holder: process_id };
}

function withBackend({ id, modules }: Served): ModuleSettings {
  return { ...modules, backend: { enabled: true, backend_id: id } };
}
