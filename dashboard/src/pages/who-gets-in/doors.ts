import type { HttpsEdge, HttpsEdgeRoute, IpCheckVerdict, TcpEdge, TlsEdge } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import type { Read } from '../../api/queries.ts';
import type { Tone } from '../../components/verdict.tsx';
import { countOf } from '../../lib/text.ts';
import { edgeName } from '../../parts/backends.ts';

export type Verdict = IpCheckVerdict;
type Type = 'dashboard' | 'api' | 'agent' | 'endpoints';

/** Somewhere an address may want in. */
export interface Door {
  readonly id: string;
  readonly name: string;
  /** The name that stands for itself: that of a route has its edge before it. */
  readonly fullName: string;
  readonly note: string;
  readonly group: 'itself' | 'edges';
  /** A route with a check of its own, shown below its edge; it does not count as a door. */
  readonly isPart: boolean;
  readonly verdict: Verdict;
  /** How the routes of an edge differ from it. */
  readonly parts: string | undefined;
}

/** Edges that are asked about at most, of each kind. */
const mostEdges = 500;
/** A browser opens six connections to a server. */
const atOnce = 6;

export interface Doors {
  readonly ip: string;
  readonly doors: readonly Door[];
  /** Name of the one edge that was asked about; undefined for every door. */
  readonly onlyEdge: string | undefined;
  /** There are more edges than were asked about. */
  readonly isCut: boolean;
}

interface Edges {
  readonly https: readonly HttpsEdge[];
  /** Those without routes. */
  readonly tcp: readonly (TcpEdge | TlsEdge)[];
}

type Check = (target: { type: Type } | { edge_id: string } | { route_id: string }) => Promise<Verdict>;

/** Asks the server about every door, or about one edge. An edge without a check of its own answers as the restrictions before it do. */
export function useDoors(ip: string, edgeId: string | null): Read<Doors> {
  return useRead(['doors', ip, edgeId], (signal) => readDoors(ip, edgeId, signal), { enabled: ip !== '' });
}

async function readDoors(ip: string, edgeId: string | null, signal: AbortSignal): Promise<Doors> {
  const check: Check = (target) => client.call('IpCheck', { body: { ip, ...target }, signal });
  const endpoints = await check({ type: 'endpoints' });
  const edges = edgeId === null ? await readEdges(signal) : await readEdge(edgeId, signal);
  const own = await readOwnChecks(edges, check);
  const { https, tcp } = edges;
  const [only] = edgeId === null ? [] : [...https, ...tcp];
  return {
    ip: endpoints.ip,
    doors: [
      ...(edgeId === null ? await readItself(check) : []),
      itself('endpoints', 'Endpoints', endpoints),
      ...https.flatMap((edge) => httpsDoors(edge, own, endpoints)),
      ...tcp.map((edge) => tcpDoor(edge, own.get(edge.id) ?? endpoints)),
    ],
    onlyEdge: only === undefined ? undefined : edgeName(only),
    isCut: https.length >= mostEdges || tcp.length >= mostEdges,
  };
}

/** The doors of Gatehouse itself, but for the endpoints. */
async function readItself(check: Check): Promise<readonly Door[]> {
  const [dashboard, api, agent] = await Promise.all([
    check({ type: 'dashboard' }),
    check({ type: 'api' }),
    check({ type: 'agent' }),
  ]);
  return [
    itself('dashboard', 'Dashboard', dashboard),
    itself('api', 'Management API', api),
    itself('agent', 'Agents', agent),
  ];
}

/** Verdicts of the edges and routes that have a check of their own, by id. */
async function readOwnChecks({ https, tcp }: Edges, check: Check): Promise<ReadonlyMap<string, Verdict>> {
  const own = new Map<string, Verdict>();
  const asked = [
    ...tcp.filter(hasModule).map(({ id }) => [id, { edge_id: id }] as const),
    ...https.flatMap(({ routes }) => routes.filter(hasModule).map(({ id }) => [id, { route_id: id }] as const)),
  ];
  for (let at = 0; at < asked.length; at += atOnce) {
    const answers = await Promise.all(
      asked.slice(at, at + atOnce).map(async ([id, target]) => [id, await check(target)] as const),
    );
    for (const [id, verdict] of answers) own.set(id, verdict);
  }
  return own;
}

async function readEdges(signal: AbortSignal): Promise<Edges> {
  const [https, tcp, tls] = await Promise.all([
    firstOf(client.list('HttpsEdgesList', { signal })),
    firstOf(client.list('TcpEdgesList', { signal })),
    firstOf(client.list('TlsEdgesList', { signal })),
  ]);
  return { https, tcp: [...tcp, ...tls] };
}

async function readEdge(id: string, signal: AbortSignal): Promise<Edges> {
  if (id.startsWith('edgtls_')) return { https: [], tcp: [await client.call('TlsEdgesGet', { path: { id }, signal })] };
  return id.startsWith('edgtcp_')
    ? { https: [], tcp: [await client.call('TcpEdgesGet', { path: { id }, signal })] }
    : { https: [await client.call('HttpsEdgesGet', { path: { id }, signal })], tcp: [] };
}

async function firstOf<Edge>(edges: AsyncIterable<Edge>): Promise<Edge[]> {
  const found: Edge[] = [];
  for await (const edge of edges) {
    found.push(edge);
    if (found.length === mostEdges) break;
  }
  return found;
}

function hasModule({ ip_restriction: module }: TcpEdge | TlsEdge | HttpsEdgeRoute): boolean {
  return module !== null;
}

function itself(id: Type, name: string, verdict: Verdict): Door {
  const note = restrictionsNote(verdict);
  return { id, name, fullName: name, note, group: 'itself', isPart: false, verdict, parts: undefined };
}

function restrictionsNote({ checks }: Verdict): string {
  if (checks.length === 0) return 'no restriction';
  return countOf(checks.length, 'restriction', 'restrictions');
}

function tcpDoor(edge: TcpEdge | TlsEdge, verdict: Verdict): Door {
  const { id } = edge;
  const note = `${edge.hostports?.join(', ') ?? 'no hostport'} · ${id.startsWith('edgtls_') ? 'TLS' : 'TCP'}`;
  const name = edgeName(edge);
  return { id, name, fullName: name, note, group: 'edges', isPart: false, verdict, parts: undefined };
}

function httpsDoors(edge: HttpsEdge, own: ReadonlyMap<string, Verdict>, endpoints: Verdict): readonly Door[] {
  const { id, routes } = edge;
  const guarded = routes.filter(hasModule);
  const verdicts = routes.map((route) => own.get(route.id) ?? endpoints);
  const open = verdicts.filter(({ allowed }) => allowed);
  const note = `${edge.hostports?.join(', ') ?? 'no hostport'} · ${countOf(routes.length, 'route', 'routes')}`;
  const door: Door = {
    id,
    name: edgeName(edge),
    fullName: edgeName(edge),
    note,
    group: 'edges',
    isPart: false,
    // An edge is open as long as one of its routes is.
    verdict: open[0] ?? verdicts[0] ?? endpoints,
    parts: guarded.length === 0 ? undefined : partsOf(open.length, verdicts.length - open.length),
  };
  const parts = guarded.map((route): Door => ({
    id: route.id,
    name: route.match,
    fullName: `${edgeName(edge)} ${route.match}`,
    note: 'route with a check of its own',
    group: 'edges',
    isPart: true,
    verdict: own.get(route.id) ?? endpoints,
    parts: undefined,
  }));
  return [door, ...parts];
}

function partsOf(open: number, shut: number): string {
  if (shut === 0) return open === 1 ? 'Its route lets it in' : `All ${open} routes let it in`;
  if (open === 0) return shut === 1 ? 'Its route refuses it' : `All ${shut} routes refuse it`;
  return `${countOf(open, 'route lets', 'routes let')} it in, ${countOf(shut, 'refuses', 'refuse')}`;
}

export function toneOf({ checks, allowed, allowed_if_all_enforced: isAllowedThen }: Verdict): Tone {
  if (!allowed) return 'deny';
  if (!isAllowedThen) return 'warn';
  return checks.some(({ effect }) => effect !== 'off') ? 'allow' : 'off';
}

export const toneWords = {
  allow: 'Let in',
  deny: 'Refused',
  warn: 'Let in, warned',
  off: 'Not restricted',
} as const;
