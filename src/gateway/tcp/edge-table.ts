import type { AccessTable } from '../../snapshot/access.ts';
import type { BackendEntry, EntryKey, SetAside, SnapshotUpdate } from '../../snapshot/contract.ts';
import { backendsOf } from '../../snapshot/set-aside.ts';
import type { TcpConnection } from './connection.ts';
import { closedRules, judge, loadEdgeRules } from './edge.ts';
import type { EdgeRules, TcpEdge } from './edge.ts';
import { OpenConnections } from './open-connections.ts';
import { OpenEdges } from './open-edges.ts';
import type { PortTable } from './port-table.ts';

/** The parts of an update that are ready to be swapped in. */
export interface BuiltUpdate {
  readonly rules: readonly EdgeRules[];
  readonly backends: ReturnType<typeof backendsOf>;
}

/** The TCP edges and backends in force, and the open connections of each edge. */
export class EdgeTable {
  readonly #access: AccessTable;
  readonly #ports: PortTable;
  readonly #edges = new Map<string, TcpEdge>();
  readonly #backends = new Map<string, BackendEntry>();
  readonly #open = new OpenEdges();

  constructor(access: AccessTable, ports: PortTable) {
    this.#access = access;
    this.#ports = ports;
  }

  backend(id: string | undefined): BackendEntry | undefined {
    return id === undefined ? undefined : this.#backends.get(id);
  }

  get hasConnections(): boolean {
    return this.#open.size > 0;
  }

  opened(connection: TcpConnection): void {
    const { edge } = connection.accepted;
    edge.connections.add(connection);
    if (edge.connections.size === 1) this.#open.add(edge);
  }

  closed(connection: TcpConnection): void {
    const { edge } = connection.accepted;
    edge.connections.delete(connection);
    if (edge.connections.size === 0) this.#open.delete(edge);
  }

  /** Must be called a few times within each limit of connections: see `TcpConnection.watch`. */
  watchAll(): void {
    for (const edge of this.#open) for (const connection of edge.connections) connection.watch();
  }

  abortAll(reason: string): void {
    for (const edge of this.#open) for (const connection of edge.connections) connection.abort(reason);
  }

  /** Builds what the update sets. Edges that cannot be loaded, or that claim a port of others, are set aside. */
  build(update: SnapshotUpdate, setAside: SetAside): BuiltUpdate {
    const rules: EdgeRules[] = [];
    for (const entry of update.set) if (entry.kind === 'tcp_edge') rules.push(loadEdgeRules(entry, setAside));
    return { rules: this.#settleClaims(update, rules, setAside), backends: backendsOf(update, setAside) };
  }

  swap(update: SnapshotUpdate, { rules, backends }: BuiltUpdate): void {
    if (update.full) this.#backends.clear();
    for (const entry of backends.set) this.#backends.set(entry.id, entry);
    for (const id of backends.removed) this.#backends.delete(id);
    const unassigned = new Set<number>();
    for (const id of this.#leaving(update, rules)) this.#remove(id, unassigned);
    for (const each of rules) this.#replace(each, unassigned);
    for (const { id, ports } of rules) this.#assign(id, ports);
    this.#checkAgain(this.#open.follow(update));
    this.#ports.commit(unassigned);
  }

  /**
   * Two edges of one update that claim the same port are both closed: nobody can say whose rules hold. An edge that claims
   * the port of one that is in force and not in the update goes without that port. Storing forbids both, but an edge may
   * be read with a port that its holder gives up a change later, and comes again with that change.
   */
  #settleClaims(update: SnapshotUpdate, rules: readonly EdgeRules[], setAside: SetAside): readonly EdgeRules[] {
    const coming = new Set([...rules, ...update.removed].map(({ id }) => id));
    const claimants = Map.groupBy(
      rules.flatMap((each) => each.ports.map((port) => ({ port, each }))),
      ({ port }) => port,
    );
    return rules.map((each) => {
      const rival = each.ports.find((port) => (claimants.get(port)?.length ?? 0) > 1);
      if (rival !== undefined) {
        setAside(key(each), new Error(`port ${rival} is claimed by another TCP edge too`));
        return closedRules(each);
      }
      const isHeld = (port: number): boolean => {
        const holder = update.full ? undefined : this.#ports.ownerOf(port)?.rules.id;
        return holder !== undefined && !coming.has(holder);
      };
      const held = each.ports.filter(isHeld);
      if (held.length === 0) return each;
      setAside(key(each), new Error(`another TCP edge holds port ${held.join(', ')}`));
      return { ...each, ports: each.ports.filter((port) => !held.includes(port)) };
    });
  }

  #leaving({ full, removed }: SnapshotUpdate, rules: readonly EdgeRules[]): readonly string[] {
    const ids = removed.flatMap(({ kind, id }) => (kind === 'tcp_edge' ? id : []));
    if (!full) return ids;
    const staying = new Set(rules.map(({ id }) => id));
    return [...this.#edges.keys()].filter((id) => !staying.has(id));
  }

  #remove(id: string, unassigned: Set<number>): void {
    const edge = this.#edges.get(id);
    if (edge === undefined) return;
    this.#edges.delete(id);
    for (const port of edge.rules.ports) this.#unassign(port, edge, unassigned);
    for (const connection of edge.connections) connection.abort('edge removed');
  }

  #replace(rules: EdgeRules, unassigned: Set<number>): void {
    const edge = this.#edges.get(rules.id);
    if (edge === undefined) {
      this.#edges.set(rules.id, { rules, connections: new OpenConnections() });
      return;
    }
    for (const port of edge.rules.ports) if (!rules.ports.includes(port)) this.#unassign(port, edge, unassigned);
    const isOpen = edge.connections.size > 0;
    if (isOpen) this.#open.delete(edge);
    edge.rules = rules;
    if (!isOpen) return;
    this.#open.add(edge);
    this.#checkAgain([edge]);
  }

  #unassign(port: number, edge: TcpEdge, unassigned: Set<number>): void {
    this.#ports.unassign(port, edge);
    unassigned.add(port);
  }

  #assign(id: string, ports: readonly number[]): void {
    const edge = this.#edges.get(id);
    if (edge !== undefined) for (const port of ports) this.#ports.assign(port, edge);
  }

  #checkAgain(edges: Iterable<TcpEdge>): void {
    for (const { rules, connections } of edges) {
      for (const connection of connections) {
        const { source, port } = connection.accepted;
        if (!rules.ports.includes(port)) connection.abort('edge changed');
        else if (judge(rules, source, this.#access).verdict !== 'allowed') connection.abort('rules changed');
      }
    }
  }
}

function key({ id }: EdgeRules): EntryKey {
  return { kind: 'tcp_edge', id };
}
