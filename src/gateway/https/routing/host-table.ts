import { KeyCounts } from '../../../lib/key-counts.ts';
import { finishInTurns } from '../../../lib/steps.ts';
import type { Steps } from '../../../lib/steps.ts';
import type {
  HttpsEdgeEntry,
  InternalEndpointEntry,
  RouteEntry,
  SetAside,
  SnapshotEntry,
  SnapshotUpdate,
} from '../../../snapshot/contract.ts';
import { InternalNames } from '../../forwarding/internal-names.ts';
import { RouteTable } from './route-table.ts';
import type { SpecialHandshake } from './route-table.ts';

export interface Edge {
  readonly id: string;
  readonly accountId: string;
  /** Host names of the edge; one may start with `*.`. */
  readonly names: readonly string[];
  /** Ports a client may name beside the host. */
  readonly ports: readonly number[];
  readonly routes: RouteTable;
  /** Undefined: the usual one. */
  readonly handshake: SpecialHandshake | undefined;
  /** False if it could not be loaded: it keeps its names, so that no other edge answers for them, and serves nothing. */
  readonly isLoaded: boolean;
  /** `both`: it is served without TLS too. `plain`: it is served without TLS alone. */
  readonly by: 'tls' | 'plain' | 'both';
  /** True: it shares its names with others that say the same. */
  readonly isPooled: boolean;
}

/** An endpoint that others forward requests to. */
export interface InternalEdge extends Edge {
  /** In its shortest form. */
  readonly url: string;
}

type ByName = Map<string, readonly Edge[]>;

const none: readonly never[] = [];

/** Finds the edges that serve a host. An update costs as much as the edges it names, however many there are. */
export class HostTable {
  #edges = new Map<string, Edge>();
  readonly #byName: ByName = new Map();
  readonly #plain: ByName = new Map();
  /** How many edges have each special handshake, by its key. */
  #handshakes = new KeyCounts<string>();
  readonly internal = new InternalNames<InternalEdge>(['http', 'https']);

  hasHandshake(key: string): boolean {
    return this.#handshakes.of(key) > 0;
  }

  async prepare(update: SnapshotUpdate, setAside: SetAside): Promise<() => void> {
    const { edges, internal } = await finishInTurns(this.#load(update.set, setAside));
    const removed = update.removed.filter(({ kind }) => kind === 'https_edge');
    const removedInternal = update.removed.filter(({ kind }) => kind === 'internal_endpoint');
    return () => {
      if (update.full) this.#clear();
      // Old names are removed before new ones are set: a name may move from one edge to another.
      for (const { id } of removed) this.#remove(id);
      for (const { id } of edges) this.#remove(id);
      for (const edge of edges) this.#add(edge);
      for (const { id } of removedInternal) this.internal.remove(id);
      for (const edge of internal) this.internal.set(edge);
    };
  }

  /**
   * An edge that serves the host by TLS. `name` is in lower case, without a port. An exact name goes before a wildcard, which
   * stands for one label.
   */
  find(name: string): Edge | undefined {
    return this.all(name)[0];
  }

  /** Edges that serve the host by TLS; more than one if they share it. */
  all(name: string): readonly Edge[] {
    return this.#byName.get(name) ?? ofWildcard(this.#byName, name);
  }

  /** Edges that serve the host without TLS. */
  allPlain(name: string): readonly Edge[] {
    const exact = this.#plain.get(name);
    if (exact !== undefined) return exact;
    // A name of its own is not served by a wildcard without TLS because it is served by TLS alone.
    return this.#plain.size === 0 || this.#byName.has(name) ? none : ofWildcard(this.#plain, name);
  }

  #clear(): void {
    this.#edges = new Map();
    this.#byName.clear();
    this.#plain.clear();
    this.#handshakes = new KeyCounts();
    this.internal.clear();
  }

  #count({ handshake }: Edge, by: 1 | -1): void {
    if (handshake !== undefined) this.#handshakes.add(handshake.key, by);
  }

  #add(edge: Edge): void {
    this.#edges.set(edge.id, edge);
    this.#count(edge, 1);
    for (const table of this.#tablesOf(edge))
      for (const name of edge.names) table.set(name, withPool(table.get(name) ?? none, edge));
  }

  #remove(id: string): void {
    const old = this.#edges.get(id);
    if (old === undefined) return;
    this.#edges.delete(id);
    this.#count(old, -1);
    for (const table of this.#tablesOf(old)) for (const name of old.names) forget(table, name, old);
  }

  #tablesOf({ by }: Edge): readonly ByName[] {
    if (by === 'both') return [this.#byName, this.#plain];
    return [by === 'tls' ? this.#byName : this.#plain];
  }

  *#load(
    entries: readonly SnapshotEntry[],
    setAside: SetAside,
  ): Steps<{ readonly edges: readonly Edge[]; readonly internal: readonly InternalEdge[] }> {
    const edges: Edge[] = [];
    const internal: InternalEdge[] = [];
    for (const entry of entries) {
      if (entry.kind === 'https_edge') edges.push(yield* loadEdge(entry, this.#edges.get(entry.id), setAside));
      else if (entry.kind === 'internal_endpoint' && entry.url.startsWith('http'))
        internal.push(yield* loadInternal(entry, this.internal.withId(entry.id), setAside));
    }
    return { edges, internal };
  }
}

/** The edges that have a name, with another one. One that does not share its names takes them over. */
function withPool(edges: readonly Edge[], edge: Edge): readonly Edge[] {
  // Nearly all are alone, and a list of one that is written so takes a quarter of the memory.
  if (edges.length === 0) return [edge];
  const sharing = edges.filter((each) => each.isPooled && edge.isPooled && each.accountId === edge.accountId);
  return [...sharing, edge];
}

function forget(table: ByName, name: string, edge: Edge): void {
  const left = table.get(name)?.filter((each) => each !== edge) ?? none;
  if (left.length === 0) table.delete(name);
  else table.set(name, left);
}

function ofWildcard(table: ByName, name: string): readonly Edge[] {
  const dot = name.indexOf('.');
  return (dot <= 0 ? undefined : table.get(`*${name.slice(dot)}`)) ?? none;
}

function* loadInternal(
  entry: InternalEndpointEntry,
  before: Edge | undefined,
  setAside: SetAside,
): Steps<InternalEdge> {
  const { id, accountId, url, modules } = entry;
  const routes = [{ id, matchType: 'path_prefix', match: '/', modules }] as const;
  const known = { id, accountId, url, names: none, ports: none, by: 'tls', isPooled: true } as const;
  return { ...known, ...(yield* loadRoutes(entry, routes, before, setAside)) };
}

function* loadRoutes(
  entry: HttpsEdgeEntry | InternalEndpointEntry,
  entries: readonly RouteEntry[],
  before: Edge | undefined,
  setAside: SetAside,
): Steps<Pick<Edge, 'routes' | 'handshake' | 'isLoaded'>> {
  try {
    const routes = yield* RouteTable.of(entries, before?.routes);
    const { handshake } = routes;
    // What stands in vaults is that of one account.
    const own = handshake?.terms && { ...handshake, key: `${entry.accountId} ${handshake.key}` };
    return { routes, handshake: own ?? handshake, isLoaded: true };
  } catch (error) {
    setAside(entry, error);
    return { routes: new RouteTable(), handshake: undefined, isLoaded: false };
  }
}

/** Its properties are written one by one, and its lists made at their length: of very many edges, spare room would take most of the memory. */
function* loadEdge(entry: HttpsEdgeEntry, before: Edge | undefined, setAside: SetAside): Steps<Edge> {
  const { id, accountId, hostports, plain, isPooled } = entry;
  const { routes, handshake, isLoaded } = yield* loadRoutes(entry, entry.routes, before, setAside);
  return {
    id,
    accountId,
    names: hostports.map((hostport) => hostport.slice(0, hostport.lastIndexOf(':'))),
    ports: portsOf(hostports),
    routes,
    handshake,
    isLoaded,
    by: plain === undefined ? 'tls' : plain === 'only' ? 'plain' : 'both',
    isPooled: isPooled === true,
  };
}

const usualPorts: readonly number[] = [443];

function portsOf(hostports: readonly string[]): readonly number[] {
  if (hostports.every((hostport) => hostport.endsWith(':443'))) return hostports.length === 0 ? none : usualPorts;
  return [...new Set(hostports.map((hostport) => Number(hostport.slice(hostport.lastIndexOf(':') + 1))))];
}
