import { Pace } from '../../lib/pace.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { BackendEntry, SetAside, SnapshotUpdate } from '../../snapshot/contract.ts';
import { backendsOf } from '../../snapshot/set-aside.ts';
import { holdsUntil } from '../../modules/run-steps.ts';
import { InternalNames } from '../forwarding/internal-names.ts';
import type { AcceptedClient, OpenConnection } from './connection.ts';
import { closedRules, holdsConnection, judgeEdge, loadEdgeRules } from './edge.ts';
import type { EdgeRules, TcpEdge } from './edge.ts';
import { loadTarget } from './forwarded.ts';
import type { InternalTarget } from './forwarded.ts';
import { OpenConnections } from './open-connections.ts';
import { OpenEdges } from './open-edges.ts';
import type { TerminationParts } from './terminate-tls.ts';
import type { HealthTable } from '../health/health-table.ts';
import { AskedAgain } from '../bounds/asked-again.ts';
import { BackendGroups } from '../upstream/backend-groups.ts';
import type { PortTable } from './port-table.ts';

/** Kinds of entries that rules of internal endpoints go by. */
const ruleKinds: ReadonlySet<string> = new Set(['internal_endpoint', 'policy', 'vault', 'vault_secret']);

/** The parts of an update that are ready to be swapped in. */
export interface BuiltUpdate {
  readonly rules: readonly EdgeRules[];
  readonly internal: readonly InternalTarget[];
  readonly backends: ReturnType<typeof backendsOf>;
  readonly swapGroups: () => void;
}

/** The TCP edges, TLS endpoints and backends in force, and the open connections of each edge. */
export class EdgeTable {
  readonly #access: AccessTable;
  readonly #ports: PortTable;
  readonly #termination: TerminationParts;
  readonly #edges = new Map<string, TcpEdge>();
  readonly #backends = new Map<string, BackendEntry>();
  readonly groups: BackendGroups;
  readonly #open = new OpenEdges();
  /** TLS endpoints by name. */
  readonly #byName = new Map<string, TcpEdge>();
  /** Edges that share a port or name; the first of them stands for all elsewhere. */
  readonly #pools = new Map<number | string, readonly TcpEdge[]>();
  readonly internal = new InternalNames<InternalTarget>(['tcp', 'tls']);
  /** Connections that were forwarded to internal endpoints. */
  readonly #forwarded = new Set<OpenConnection>();
  /** Edges whose open connections are to be put to the rules in force. */
  readonly #due = new Set<TcpEdge>();
  #isForwardedDue = false;
  /** Counts up with each change of the rules. */
  #generation = 0;
  #checks = 0;
  /** Connections of older rules that came while others were checked: their backend has just been reached, or TLS has ended. */
  readonly #late = new Set<OpenConnection>();

  constructor(access: AccessTable, ports: PortTable, termination: TerminationParts, health: HealthTable) {
    this.#access = access;
    this.groups = new BackendGroups((id) => health.isDown(id));
    this.#termination = termination;
    this.#ports = ports;
  }

  backend(id: string | undefined): BackendEntry | undefined {
    return id === undefined ? undefined : this.#backends.get(id);
  }

  /** The TLS endpoint of exactly this name, which may be a wildcard. */
  named(name: string): TcpEdge | undefined {
    return this.#byName.get(name);
  }

  /** The edge that the next connection to a port or name goes to, where several share it. */
  oneOf(claim: number | string, edge: TcpEdge | undefined): TcpEdge | undefined {
    const pool = this.#pools.get(claim);
    return pool === undefined ? edge : pool[Math.floor(Math.random() * pool.length)];
  }

  get generation(): number {
    return this.#generation;
  }

  get hasConnections(): boolean {
    return this.#open.size > 0;
  }

  opened(connection: OpenConnection): void {
    const { edge } = connection.accepted;
    edge.connections.add(connection);
    if (edge.connections.size === 1) this.#open.add(edge);
    if (connection.accepted.hops.length > 0) this.#forwarded.add(connection);
    if (this.#checks > 0 && connection.accepted.admittedBy < this.#generation) this.#late.add(connection);
  }

  closed(connection: OpenConnection): void {
    const { edge } = connection.accepted;
    edge.connections.delete(connection);
    this.#forwarded.delete(connection);
    this.#late.delete(connection);
    if (edge.connections.size === 0) this.#open.delete(edge);
  }

  /** Ends connections whose time is over. Must be called a few times within each limit of connections: see `TcpConnection.watch`. */
  watchAll(): void {
    const nowMs = Date.now();
    for (const edge of this.#open)
      for (const connection of edge.connections)
        if (connection.accepted.untilMs > nowMs) connection.watch();
        else connection.abort('rules changed');
  }

  abortAll(reason: string): void {
    for (const edge of this.#open) for (const connection of edge.connections) connection.abort(reason);
  }

  /** Builds what the update sets. Edges that cannot be loaded, or that claim a port or name of others, are set aside. */
  build(update: SnapshotUpdate, setAside: SetAside): BuiltUpdate {
    const rules: EdgeRules[] = [];
    const internal: InternalTarget[] = [];
    for (const entry of update.set) {
      if (entry.kind === 'tcp_edge' || entry.kind === 'tls_endpoint')
        rules.push(loadEdgeRules(entry, setAside, this.#termination));
      else if (entry.kind === 'internal_endpoint' && !entry.url.startsWith('http'))
        internal.push(loadTarget(entry, setAside));
    }
    return {
      internal,
      rules: this.#settleClaims(update, rules, setAside),
      backends: backendsOf(update, setAside),
      swapGroups: this.groups.prepare(update),
    };
  }

  /** Must be followed by `checkOpen` in the same turn. */
  swap(update: SnapshotUpdate, { rules, internal, backends, swapGroups }: BuiltUpdate): void {
    this.#generation += 1;
    swapGroups();
    if (update.full) this.internal.clear();
    for (const { kind, id } of update.removed) if (kind === 'internal_endpoint') this.internal.remove(id);
    for (const target of internal) this.internal.set(target);
    if (update.full) this.#backends.clear();
    for (const entry of backends.set) this.#backends.set(entry.id, entry);
    for (const id of backends.removed) this.#backends.delete(id);
    const unassigned = new Set<number>();
    for (const id of this.#leaving(update, rules)) this.#remove(id, unassigned);
    for (const each of rules) this.#replace(each, unassigned);
    for (const each of rules) this.#assign(each);
    for (const edge of this.#open.follow(update)) this.#due.add(edge);
    this.#isForwardedDue ||= update.full || update.set.some(isOfRules) || update.removed.some(isOfRules);
    this.#ports.commit(unassigned);
  }

  /** Ends the connections that the rules no longer admit. */
  async checkOpen(): Promise<void> {
    const due = [...this.#due];
    // Internal endpoints are the account's own, whose restrictions its edge has been asked for.
    const forwarded = this.#isForwardedDue ? [...this.#forwarded] : [];
    this.#due.clear();
    this.#isForwardedDue = false;
    this.#checks += 1;
    try {
      const pace = new Pace();
      const asked = new AskedAgain();
      for (const some of [...due.map(({ connections }) => connections), forwarded, this.#late])
        for (const connection of some) {
          this.#check(connection, asked);
          if (pace.isDue) await pace.giveWay();
        }
    } finally {
      this.#checks -= 1;
      if (this.#checks === 0) this.#late.clear();
    }
  }

  /**
   * Two edges of one update that claim the same port or name are both closed: nobody can say whose rules hold. An edge that
   * claims that of one that is in force and not in the update goes without it. Storing forbids both, but an edge may be
   * read with a port that its holder gives up a change later, and comes again with that change.
   */
  #settleClaims(update: SnapshotUpdate, rules: readonly EdgeRules[], setAside: SetAside): readonly EdgeRules[] {
    const coming = new Set([...rules.map(({ id }) => id), ...this.#removedIds(update)]);
    const claimants = Map.groupBy(
      rules.flatMap((each) => claimsOf(each).map((claim) => ({ claim, each }))),
      ({ claim }) => claim,
    );
    return rules.map((each) => {
      const rival = claimsOf(each).find((claim) =>
        claimants.get(claim)?.some((other) => other.each !== each && !mayShare(each, other.each)),
      );
      if (rival !== undefined) {
        setAside(each, new Error(`${describe(rival)} is claimed by another ${nouns[each.kind]} too`));
        return closedRules(each);
      }
      const isFree = (claim: number | string): boolean => {
        const holder = update.full ? undefined : this.#ownerOf(claim)?.rules;
        return holder === undefined || coming.has(holder.id) || mayShare(each, holder);
      };
      const held = claimsOf(each).filter((claim) => !isFree(claim));
      const [first] = held;
      if (first === undefined) return each;
      setAside(each, new Error(`another ${nouns[each.kind]} holds ${describe(first, held.slice(1))}`));
      return { ...each, ports: each.ports.filter(isFree), names: each.names.filter(isFree) };
    });
  }

  /** An endpoint of an agent is of one kind, and said to be gone for the others, which does not count. */
  #removedIds({ removed }: SnapshotUpdate): readonly string[] {
    return removed.flatMap(({ kind, id }) => (this.#edges.get(id)?.rules.kind === kind ? id : []));
  }

  #leaving(update: SnapshotUpdate, rules: readonly EdgeRules[]): readonly string[] {
    if (!update.full) return this.#removedIds(update);
    const staying = new Set(rules.map(({ id }) => id));
    return [...this.#edges.keys()].filter((id) => !staying.has(id));
  }

  #remove(id: string, unassigned: Set<number>): void {
    const edge = this.#edges.get(id);
    if (edge === undefined) return;
    this.#edges.delete(id);
    for (const port of edge.rules.ports) this.#unassign(port, edge, unassigned);
    this.#forgetNames(edge);
    edge.isRemoved = true;
    if (edge.connections.size > 0) this.#due.add(edge);
  }

  #replace(rules: EdgeRules, unassigned: Set<number>): void {
    const edge = this.#edges.get(rules.id);
    if (edge === undefined) {
      this.#edges.set(rules.id, { rules, isRemoved: false, connections: new OpenConnections() });
      return;
    }
    for (const port of edge.rules.ports) if (!rules.ports.includes(port)) this.#unassign(port, edge, unassigned);
    this.#forgetNames(edge);
    for (const claim of claimsOf(edge.rules)) this.#leavePool(claim, edge);
    const isOpen = edge.connections.size > 0;
    if (isOpen) this.#open.delete(edge);
    edge.rules = rules;
    if (!isOpen) return;
    this.#open.add(edge);
    this.#due.add(edge);
  }

  #unassign(port: number, edge: TcpEdge, unassigned: Set<number>): void {
    this.#ports.unassign(port, edge);
    unassigned.add(port);
    const [next] = this.#leavePool(port, edge);
    if (next !== undefined && this.#ports.ownerOf(port) === undefined) this.#ports.assign(port, next);
  }

  #assign({ id, ports, names, isPooled }: EdgeRules): void {
    const edge = this.#edges.get(id);
    if (edge === undefined) return;
    for (const port of ports) if (!this.#joinPool(port, edge, isPooled)) this.#ports.assign(port, edge);
    for (const name of names) if (!this.#joinPool(name, edge, isPooled)) this.#byName.set(name, edge);
  }

  #forgetNames(edge: TcpEdge): void {
    for (const name of edge.rules.names) {
      const [next] = this.#leavePool(name, edge);
      if (this.#byName.get(name) !== edge) continue;
      if (next === undefined) this.#byName.delete(name);
      else this.#byName.set(name, next);
    }
  }

  /** True: the edge shares the port or name with another one, which stands for it. */
  #joinPool(claim: number | string, edge: TcpEdge, isPooled: boolean): boolean {
    const owner = this.#ownerOf(claim);
    if (!isPooled || (owner !== undefined && owner !== edge && !mayShare(owner.rules, edge.rules))) {
      this.#pools.delete(claim);
      return false;
    }
    this.#pools.set(claim, [...this.#leavePool(claim, edge), edge]);
    return owner !== undefined && owner !== edge;
  }

  /** Returns those that are left. */
  #leavePool(claim: number | string, edge: TcpEdge): readonly TcpEdge[] {
    const left = (this.#pools.get(claim) ?? []).filter((each) => each !== edge);
    if (left.length === 0) this.#pools.delete(claim);
    else this.#pools.set(claim, left);
    return left;
  }

  #ownerOf(claim: number | string): TcpEdge | undefined {
    return typeof claim === 'number' ? this.#ports.ownerOf(claim) : this.#byName.get(claim);
  }

  #check(connection: OpenConnection, asked: AskedAgain): void {
    const { accepted } = connection;
    const { edge, claim, visit } = accepted;
    if (edge.isRemoved) connection.abort('edge removed');
    else if (!claimsOf(edge.rules).includes(claim)) connection.abort('edge changed');
    else if (judgeEdge(edge.rules, visit.source, this.#access).refusal !== undefined) connection.abort('rules changed');
    else accepted.untilMs = asked.untilOf(visit, () => this.#holds(edge.rules, accepted));
    if (accepted.untilMs === 0) connection.abort('rules changed');
  }

  /** By the edge, and by all endpoints that the connection was forwarded to. */
  #holds(rules: EdgeRules, accepted: AcceptedClient): number {
    let untilMs = holdsConnection(rules, accepted);
    for (const { url, target, visit } of accepted.hops) {
      const now = this.internal.find(target.accountId, url).find(({ id }) => id === target.id);
      if (now?.isLoaded !== true || untilMs === 0) return 0;
      untilMs = Math.min(untilMs, holdsUntil(now.list.accept, visit));
    }
    return untilMs;
  }
}

function isOfRules({ kind }: { readonly kind: string }): boolean {
  return ruleKinds.has(kind);
}

const nouns = { tcp_edge: 'TCP edge', tls_endpoint: 'TLS endpoint' } as const;

/** The ports or names by which connections come to an edge. */
function claimsOf({ ports, names }: EdgeRules): readonly (number | string)[] {
  return ports.length > 0 ? ports : names;
}

/** Whether two may have one port or name. */
function mayShare(one: EdgeRules, other: EdgeRules): boolean {
  return one.isPooled && other.isPooled && one.accountId === other.accountId && one.kind === other.kind;
}

function describe(claim: number | string, more: readonly (number | string)[] = []): string {
  return `${typeof claim === 'number' ? 'port' : 'name'} ${[claim, ...more].join(', ')}`;
}
