import type { AccessTable } from '../../snapshot/access.ts';
import type { BackendEntry, SnapshotUpdate } from '../../snapshot/contract.ts';
import type { TcpConnection } from './connection.ts';
import { buildEdgeRules, judge } from './edge.ts';
import type { EdgeRules, TcpEdge } from './edge.ts';
import { OpenConnections } from './open-connections.ts';
import { OpenEdges } from './open-edges.ts';
import type { PortTable } from './port-table.ts';

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

  /** Builds the rules of the edges that the update sets. Throws for an unknown module and for a port that two edges claim. */
  build(update: SnapshotUpdate): readonly EdgeRules[] {
    const rules: EdgeRules[] = [];
    for (const entry of update.set) if (entry.kind === 'tcp_edge') rules.push(buildEdgeRules(entry));
    const leaving = new Set(update.removed.map(({ id }) => id));
    for (const { id } of rules) leaving.add(id);
    const claims = new Map<number, string>();
    for (const { id, ports } of rules) {
      for (const port of ports) {
        const holder = update.full ? undefined : this.#ports.ownerOf(port)?.rules.id;
        const claimant = claims.get(port) ?? (holder !== undefined && !leaving.has(holder) ? holder : id);
        if (claimant !== id) throw new Error(`the TCP edges ${claimant} and ${id} both claim port ${port}`);
        claims.set(port, id);
      }
    }
    return rules;
  }

  swap(update: SnapshotUpdate, rules: readonly EdgeRules[]): void {
    this.#swapBackends(update);
    const unassigned = new Set<number>();
    for (const id of this.#leaving(update, rules)) this.#remove(id, unassigned);
    for (const each of rules) this.#replace(each, unassigned);
    for (const { id, ports } of rules) this.#assign(id, ports);
    this.#checkAgain(this.#open.follow(update));
    this.#ports.commit(unassigned);
  }

  #swapBackends({ full, set, removed }: SnapshotUpdate): void {
    if (full) this.#backends.clear();
    for (const entry of set) if (entry.kind === 'backend') this.#backends.set(entry.id, entry);
    for (const { kind, id } of removed) if (kind === 'backend') this.#backends.delete(id);
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
