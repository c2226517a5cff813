import type { Compiler } from '../../publisher/compiler.ts';
import type { Sealer } from '../../lib/sealed-secret.ts';
import type { SnapshotEntry, TlsEndpointEntry } from '../../snapshot/contract.ts';
import type { Queries } from '../../store/database.ts';
import { membersOf } from './rows.ts';
import { tunnelClaims, tunnels } from './table.ts';
import type { Tunnel, TunnelClaim } from './table.ts';

type MakeEntry = (claim: TunnelClaim, members: readonly Tunnel[]) => SnapshotEntry | undefined;

/** An endpoint of an agent is an edge like any other, with a backend of its own. It stays while its claim is held. */
export function endpointCompilers(httpsPort: number, sealer: Sealer): readonly Compiler[] {
  return [
    compiler('https_edge', (claim) => httpsEdge(claim, httpsPort)),
    compiler('tcp_edge', tcpEdge),
    compiler('tls_endpoint', (claim) => tlsEndpoint(claim, sealer)),
    compiler('internal_endpoint', internalEndpoint),
    compiler('tunnel_backend', tunnelBackend),
  ];
}

function compiler(kind: SnapshotEntry['kind'], toEntry: MakeEntry): Compiler {
  return {
    kind,
    affectedIds: (change) => (change.kind === tunnelClaims.kind ? [change.id] : []),
    async load(queries, ids) {
      const claims = await tunnelClaims.loadMany(queries, ids);
      const members = await findMembers(queries, claims, ids === undefined);
      return claims.flatMap((claim) => toEntry(claim, members.get(claim.id) ?? []) ?? []);
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
  for (const { id } of claims) members.set(id, await membersOf(queries, id));
  return members;
}

function httpsEdge(claim: TunnelClaim, httpsPort: number): SnapshotEntry | undefined {
  const { id, account_id, kind, hostname } = claim;
  if (kind !== 'http' || hostname === null) return undefined;
  return {
    kind: 'https_edge',
    id,
    accountId: account_id,
    hostports: [`${hostname}:${httpsPort}`],
    routes: [{ id, matchType: 'path_prefix', match: '/', modules: withBackend(claim) }],
    ...(claim.plain === true && { plain: true }),
    observed: true,
  };
}

function tcpEdge(claim: TunnelClaim): SnapshotEntry | undefined {
  const { id, account_id, port } = claim;
  if (port === null) return undefined;
  return { kind: 'tcp_edge', id, accountId: account_id, ports: [port], modules: withBackend(claim), observed: true };
}

function tlsEndpoint(claim: TunnelClaim, sealer: Sealer): SnapshotEntry | undefined {
  const { id, account_id, kind, hostname } = claim;
  if (kind !== 'tls' || hostname === null) return undefined;
  const names = [hostname];
  const entry = { kind: 'tls_endpoint', id, accountId: account_id, names, modules: withBackend(claim) } as const;
  return { ...entry, ...terminationOf(claim, sealer), observed: true };
}

function internalEndpoint(claim: TunnelClaim): SnapshotEntry | undefined {
  const { id, account_id: accountId, internal: url } = claim;
  if (url === undefined) return undefined;
  return { kind: 'internal_endpoint', id, accountId, url, modules: withBackend(claim), observed: true };
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

function tunnelBackend(
  { id, labels, proxy_proto, held_until_ms }: TunnelClaim,
  members: readonly Tunnel[],
): SnapshotEntry | undefined {
  if (labels !== null) return undefined;
  const proxyProtocol = proxy_proto === 0 ? {} : { proxyProtocol: proxy_proto };
  const expected = held_until_ms === null ? {} : { isExpected: true as const };
  return { kind: 'tunnel_backend', id, tunnels: members.map(toRef), ...proxyProtocol, ...expected, observed: true };
}

export function toRef({ id, process_id }: Tunnel): { readonly id: string; readonly holder: string } {
  return { id, holder: process_id };
}

function withBackend({ id, modules }: TunnelClaim): TunnelClaim['modules'] {
  return { ...modules, backend: { enabled: true, backend_id: id } };
}
