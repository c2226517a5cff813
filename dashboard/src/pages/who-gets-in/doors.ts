import type {
  Endpoint,
  HttpsEdge,
  HttpsEdgeRoute,
  IpCheckVerdict,
  TcpEdge,
  TlsEdge,
} from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import type { Read } from '../../api/queries.ts';
import type { Tone } from '../../components/verdict.tsx';
import { countOf } from '../../lib/text.ts';
import { edgeName } from '../../parts/backends.ts';
import type { Described } from './described.tsx';

/** What becomes of an address at a door, or at one route of it. */
export type Verdict = Omit<IpCheckVerdict, 'routes'>;
type Type = 'dashboard' | 'api' | 'agent' | 'endpoints';

/** Somewhere an address may want in. */
export interface Door {
  readonly id: string;
  readonly name: string;
  /** The name that stands for itself: that of a route has its edge before it. */
  readonly fullName: string;
  readonly note: string;
  readonly group: 'itself' | 'edges';
  /** A route that differs from others of its edge, shown below it; it does not count as a door. */
  readonly isPart: boolean;
  readonly verdict: Verdict;
  readonly outcome: Outcome;
  /** How the routes of an edge differ. */
  readonly parts: string | undefined;
}

/** `asks`: its address lets it through, and then something else is asked for. `differs`: routes of the edge do. */
export type Outcome = 'open' | 'asks' | 'refused' | 'differs';

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
  /** Edges without routes. */
  readonly tcp: readonly (TcpEdge | TlsEdge)[];
  /** Endpoints of the cloud and of agents that visitors reach. */
  readonly endpoints: readonly Endpoint[];
}

type Check = (target: { type: Type } | { edge_id: string }) => Promise<IpCheckVerdict>;

/** Asks the server about every door, or about one edge. An edge that guards nothing answers as the restrictions before it do. */
export function useDoors(ip: string, edgeId: string | null, described: Described): Read<Doors> {
  const read = (signal: AbortSignal) => readDoors(ip, edgeId, described, signal);
  return useRead(['doors', ip, edgeId, described], read, { enabled: ip !== '' });
}

async function readDoors(ip: string, edgeId: string | null, described: Described, signal: AbortSignal): Promise<Doors> {
  const check: Check = (target) =>
    client.call('IpCheck', { body: { ip, ...target, ...('edge_id' in target ? described : {}) }, signal });
  const endpoints = await check({ type: 'endpoints' });
  const edges = edgeId === null ? await readEdges(signal) : await readEdge(edgeId, signal);
  const own = await readOwnChecks(edges, check);
  const { https, tcp, endpoints: others } = edges;
  const [only] = edgeId === null ? [] : [...https.map(edgeName), ...tcp.map(edgeName), ...others.map(urlOf)];
  return {
    ip: endpoints.ip,
    doors: [
      ...(edgeId === null ? await readItself(check) : []),
      itself('endpoints', 'Endpoints', endpoints),
      ...https.flatMap((edge) => httpsDoors(edge, own, endpoints)),
      ...tcp.map((edge) => tcpDoor(edge, own.get(edge.id) ?? endpoints)),
      ...others.map((endpoint) => endpointDoor(endpoint, own.get(endpoint.id) ?? endpoints)),
    ],
    onlyEdge: only,
    isCut: [https, tcp, others].some(({ length }) => length >= mostEdges),
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

/** Verdicts of the edges that guard something themselves, or have a route that does, by id. */
async function readOwnChecks(
  { https, tcp, endpoints }: Edges,
  check: Check,
): Promise<ReadonlyMap<string, IpCheckVerdict>> {
  const own = new Map<string, IpCheckVerdict>();
  const asked: readonly { readonly id: string }[] = [
    // All that an endpoint has is a policy, or what its agent has asked for.
    ...endpoints,
    ...tcp.filter(mayGuard),
    ...https.filter((edge) => mayGuard(edge) || edge.routes.some((route) => mayGuard(route))),
  ];
  for (let at = 0; at < asked.length; at += atOnce) {
    const answers = await Promise.all(
      asked.slice(at, at + atOnce).map(async ({ id }) => [id, await check({ edge_id: id })] as const),
    );
    for (const [id, verdict] of answers) own.set(id, verdict);
  }
  return own;
}

async function readEdges(signal: AbortSignal): Promise<Edges> {
  const filter = "obj.type in ['cloud', 'ephemeral']";
  const [https, tcp, tls, endpoints] = await Promise.all([
    firstOf(client.list('HttpsEdgesList', { signal })),
    firstOf(client.list('TcpEdgesList', { signal })),
    firstOf(client.list('TlsEdgesList', { signal })),
    firstOf(client.list('EndpointsList', { query: { filter }, signal })),
  ]);
  return { https, tcp: [...tcp, ...tls], endpoints: endpoints.filter(isPublic) };
}

async function readEdge(id: string, signal: AbortSignal): Promise<Edges> {
  const input = { path: { id }, signal };
  const none = { https: [], tcp: [], endpoints: [] };
  if (id.startsWith('ep_')) return { ...none, endpoints: [await client.call('EndpointsGet', input)] };
  if (id.startsWith('edgtls_')) return { ...none, tcp: [await client.call('TlsEdgesGet', input)] };
  if (id.startsWith('edgtcp_')) return { ...none, tcp: [await client.call('TcpEdgesGet', input)] };
  return { ...none, https: [await client.call('HttpsEdgesGet', input)] };
}

function isPublic({ bindings }: Endpoint): boolean {
  return !bindings.includes('internal');
}

function urlOf({ public_url: url }: Endpoint): string {
  return url;
}

async function firstOf<Edge>(edges: AsyncIterable<Edge>): Promise<Edge[]> {
  const found: Edge[] = [];
  for await (const edge of edges) {
    found.push(edge);
    if (found.length === mostEdges) break;
  }
  return found;
}

/** Modules that keep nobody out. The server is asked about every other one, so that a new one is never taken for an open door. */
const harmless: ReadonlySet<string> = new Set([
  'backend',
  'circuit_breaker',
  'compression',
  'path_rewrite',
  'redirect',
  'request_headers',
  'response_headers',
  'websocket_tcp_converter',
]);

function mayGuard(thing: TcpEdge | TlsEdge | HttpsEdge | HttpsEdgeRoute): boolean {
  return Object.entries(thing).some(
    ([name, value]) => typeof value === 'object' && value !== null && !Array.isArray(value) && !harmless.has(name),
  );
}

function itself(id: Type, name: string, verdict: Verdict): Door {
  const note = restrictionsNote(verdict);
  return { id, name, fullName: name, note, group: 'itself', ...wholeDoor(verdict) };
}

function restrictionsNote({ checks }: Verdict): string {
  if (checks.length === 0) return 'no restriction';
  return countOf(checks.length, 'restriction', 'restrictions');
}

function tcpDoor(edge: TcpEdge | TlsEdge, verdict: Verdict): Door {
  const { id } = edge;
  const note = `${edge.hostports?.join(', ') ?? 'no hostport'} · ${id.startsWith('edgtls_') ? 'TLS' : 'TCP'}`;
  const name = edgeName(edge);
  return { id, name, fullName: name, note, group: 'edges', ...wholeDoor(verdict) };
}

function endpointDoor(endpoint: Endpoint, verdict: Verdict): Door {
  const { id, type, pooling_enabled: isPooled } = endpoint;
  const name = urlOf(endpoint);
  const note = `${type === 'cloud' ? 'cloud endpoint' : 'endpoint of an agent'}${isPooled ? ', one of a pool' : ''}`;
  return { id, name, fullName: name, note, group: 'edges', ...wholeDoor(verdict) };
}

function wholeDoor(verdict: Verdict) {
  return { isPart: false, verdict, outcome: outcomeOf(verdict), parts: undefined } as const;
}

/** Routes that are shown below an edge whose routes differ. */
const mostParts = 20;

function httpsDoors(edge: HttpsEdge, own: ReadonlyMap<string, IpCheckVerdict>, endpoints: Verdict): readonly Door[] {
  const { id, routes } = edge;
  const name = edgeName(edge);
  const note = `${edge.hostports?.join(', ') ?? 'no hostport'} · ${countOf(routes.length, 'route', 'routes')}`;
  const shared = { id, name, fullName: name, note, group: 'edges' } as const;
  const verdict = own.get(id);
  const asked = verdict?.routes ?? [];
  const all = asked.map((route) => ({ ...route, outcome: outcomeOf(route) }));
  const outcomes = new Set(all.map(({ outcome }) => outcome));
  if (verdict === undefined || outcomes.size < 2) {
    const whole = verdict ?? endpoints;
    const [first] = asked;
    // Routes that are alike are told by the first of them, with what it checks.
    const told = first && { ...first, ip: whole.ip, checks: [...whole.checks, ...first.checks] };
    return [{ ...shared, ...wholeDoor(told ?? whole) }];
  }
  const parts = all.slice(0, mostParts).map(({ match, ...route }): Door => ({
    id: route.id,
    name: match,
    fullName: `${name} ${match}`,
    note: 'route',
    group: 'edges',
    isPart: true,
    verdict: { ...route, ip: verdict.ip, checks: [...verdict.checks, ...route.checks] },
    outcome: route.outcome,
    parts: undefined,
  }));
  const counts = (wanted: Outcome): number => all.filter(({ outcome }) => outcome === wanted).length;
  const told = partsOf(counts('open'), counts('asks'), counts('refused'));
  const cut = all.length > mostParts ? `. The newest ${mostParts} are below` : '';
  return [{ ...shared, isPart: false, verdict, outcome: 'differs', parts: `${told}${cut}` }, ...parts];
}

function partsOf(open: number, asks: number, refused: number): string {
  const text = [
    open === 0 ? '' : `${countOf(open, 'route lets', 'routes let')} it in`,
    asks === 0 ? '' : `${countOf(asks, 'asks', 'ask')} for more`,
    refused === 0 ? '' : `${countOf(refused, 'refuses', 'refuse')} it`,
  ].filter((part) => part !== '');
  return text.join(', ');
}

function outcomeOf({ allowed, further_checks: further }: Pick<Verdict, 'allowed' | 'further_checks'>): Outcome {
  if (!allowed) return 'refused';
  return further.some(({ asks }) => asks !== null) ? 'asks' : 'open';
}

export function toneOf({ outcome, verdict }: Pick<Door, 'outcome' | 'verdict'>): Tone {
  if (outcome === 'refused') return 'deny';
  if (outcome === 'asks') return 'ask';
  if (outcome === 'differs') return 'off';
  if (!verdict.allowed_if_all_enforced) return 'warn';
  return verdict.checks.some(({ effect }) => effect !== 'off') ? 'allow' : 'off';
}

const askWords: Readonly<Record<string, string>> = {
  oidc: 'Asked to sign in',
  oauth: 'Asked to sign in',
  mutual_tls: 'Needs a certificate',
  basic_auth: 'Needs a password',
  jwt_validation: 'Needs a token',
  webhook_verification: 'Needs a signature',
  traffic_policy: 'Depends on its policy',
  policy: 'Depends on its policy',
};

/** Refused, or warned of, by IP policies, to which a rule could be added. */
export function isShutByAddress({ verdict: { checks } }: Pick<Door, 'verdict'>): boolean {
  return checks.some(({ effect, ip_policies: policies }) => isShutting(effect) && policies.length > 0);
}

export function isShutting(effect: Verdict['checks'][number]['effect']): boolean {
  return effect === 'refuses' || effect === 'warns';
}

/** A door's verdict in a few words. */
export function wordOf(door: Pick<Door, 'outcome' | 'verdict'>): string {
  const tone = toneOf(door);
  if (door.outcome === 'differs') return 'Differs by route';
  if (tone === 'allow') return 'Let in';
  if (tone === 'deny') return 'Refused';
  if (tone === 'warn') return 'Let in, warned';
  if (tone === 'off') return 'Not restricted';
  const [first, ...more] = door.verdict.further_checks.filter(({ asks }) => asks !== null);
  return `${askWords[first?.module ?? ''] ?? 'More is asked for'}${more.length === 0 ? '' : ', and more'}`;
}

/** The words of the API go on after "a visitor": "is asked to sign in: ops". */
export function sentenceOf(asks: string): string {
  const text = asks.replace(/^is /, '');
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}`;
}
