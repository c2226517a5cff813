import { finishInTurns } from '../../../lib/steps.ts';
import type { Steps } from '../../../lib/steps.ts';
import type { HttpsEdgeEntry, SetAside, SnapshotEntry, SnapshotUpdate } from '../../../snapshot/contract.ts';
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
  /** True if it is served without TLS too. */
  readonly isPlain: boolean;
}

/** Finds the edge that serves a host. An update costs as much as the edges it names, however many there are. */
export class HostTable {
  #edges = new Map<string, Edge>();
  #byName = new Map<string, Edge>();
  /** How many edges have each special handshake, by its key. */
  #handshakes = new Map<string, number>();

  hasHandshake(key: string): boolean {
    return this.#handshakes.has(key);
  }

  async prepare(update: SnapshotUpdate, setAside: SetAside): Promise<() => void> {
    const edges = await finishInTurns(loadEdges(update.set, this.#edges, setAside));
    const removed = update.removed.filter(({ kind }) => kind === 'https_edge');
    return () => {
      if (update.full) {
        this.#edges = new Map();
        this.#byName = new Map();
        this.#handshakes = new Map();
      }
      // Old names are removed before new ones are set: a name may move from one edge to another.
      for (const { id } of removed) this.#remove(id);
      for (const { id } of edges) this.#remove(id);
      for (const edge of edges) this.#add(edge);
    };
  }

  /** `name` is in lower case, without a port. An exact name goes before a wildcard, which stands for one label. */
  find(name: string): Edge | undefined {
    const exact = this.#byName.get(name);
    if (exact !== undefined) return exact;
    const dot = name.indexOf('.');
    return dot <= 0 ? undefined : this.#byName.get(`*${name.slice(dot)}`);
  }

  #count({ handshake }: Edge, by: 1 | -1): void {
    if (handshake === undefined) return;
    const { key } = handshake;
    const count = (this.#handshakes.get(key) ?? 0) + by;
    if (count === 0) this.#handshakes.delete(key);
    else this.#handshakes.set(key, count);
  }

  #add(edge: Edge): void {
    this.#edges.set(edge.id, edge);
    this.#count(edge, 1);
    for (const name of edge.names) this.#byName.set(name, edge);
  }

  #remove(id: string): void {
    const old = this.#edges.get(id);
    if (old === undefined) return;
    this.#edges.delete(id);
    this.#count(old, -1);
    for (const name of old.names) if (this.#byName.get(name) === old) this.#byName.delete(name);
  }
}

function* loadEdges(
  entries: readonly SnapshotEntry[],
  before: ReadonlyMap<string, Edge>,
  setAside: SetAside,
): Steps<readonly Edge[]> {
  const edges: Edge[] = [];
  for (const entry of entries)
    if (entry.kind === 'https_edge') edges.push(yield* loadEdge(entry, before.get(entry.id), setAside));
  return edges;
}

function* loadEdge(entry: HttpsEdgeEntry, before: Edge | undefined, setAside: SetAside): Steps<Edge> {
  try {
    const routes = yield* RouteTable.of(entry.routes, before?.routes);
    return { ...namesOf(entry), routes, handshake: routes.handshake, isLoaded: true };
  } catch (error) {
    setAside(entry, error);
    return { ...namesOf(entry), routes: new RouteTable(), handshake: undefined, isLoaded: false };
  }
}

function namesOf(entry: HttpsEdgeEntry): Omit<Edge, 'routes' | 'handshake' | 'isLoaded'> {
  const names: string[] = [];
  const ports: number[] = [];
  for (const hostport of entry.hostports) {
    const colon = hostport.lastIndexOf(':');
    names.push(hostport.slice(0, colon));
    const port = Number(hostport.slice(colon + 1));
    if (!ports.includes(port)) ports.push(port);
  }
  return { id: entry.id, accountId: entry.accountId, names, ports, isPlain: entry.plain === true };
}
