import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

import { parseIp } from '../../lib/ip/address.ts';
import type { UpstreamBound } from '../bounds/bound.ts';
import type { UpstreamConnections, UpstreamSlot } from '../bounds/upstream-connections.ts';
import type { TrafficObserver } from '../engine.ts';
import type { ChoiceFacts } from '../health/backend-addresses.ts';
import type { HealthTable } from '../health/health-table.ts';
import type { Target } from '../health/target.ts';
import { TunnelBackend } from '../tunnels/tunnel-backend.ts';
import type { VisitorFacts } from '../tunnels/tunnel-backend.ts';
import type { TunnelBackends } from '../tunnels/tunnel-backends.ts';
import type { ConnectUpstream, UpstreamTarget } from '../upstream/connect.ts';
import { FixedAnswer } from '../upstream/fixed-answer.ts';
import { SocketSource } from '../upstream/socket-source.ts';
import { TcpConnection } from './connection.ts';
import type { AcceptedClient, ConnectionSettings } from './connection.ts';
import { noneIdle, TcpDialing } from './dialing.ts';
import type { EdgeTable } from './edge-table.ts';
import { TcpFailover } from './failover.ts';
import type { Member } from './failover.ts';
import type { Opening } from './opening.ts';
import { connectBackend, joinStream, resetSocket } from './upstream.ts';
import type { OpenUpstream } from './upstream.ts';

/** A backend, or one address of it, that a client may be sent to. */
export interface Candidate {
  readonly source: SocketSource | TunnelBackend | FixedAnswer;
  /** Set for one of several addresses of a backend, or one that is checked: it is only tried. */
  readonly target?: Target;
}

/** Most of them that are tried for one client. */
const mostTried = 16;

interface TcpBackendsParts {
  readonly edges: EdgeTable;
  readonly connect: ConnectUpstream;
  readonly tunnels: TunnelBackends;
  readonly health: HealthTable;
  readonly upstreams: UpstreamConnections;
  readonly observer: TrafficObserver;
  readonly timeouts: ConnectionSettings['timeouts'];
  /** Told when a connection is over. */
  readonly closed: () => void;
}

/** Finds the backends that clients may be sent to, and joins clients with them. */
export class TcpBackends {
  readonly #parts: TcpBackendsParts;
  readonly #settings: ConnectionSettings;

  constructor(parts: TcpBackendsParts) {
    this.#parts = parts;
    this.#settings = { timeouts: parts.timeouts, closed: (connection) => this.closed(connection) };
  }

  /** Backends and addresses to try, where the id is that of a group, or of a backend with several addresses. */
  candidates(id: string | undefined, sourceText: string): readonly Candidate[] | undefined {
    if (id === undefined || this.#parts.edges.backend(id)?.balance === undefined) {
      const ids = id === undefined ? undefined : this.#parts.edges.groups.candidates(id);
      return ids?.flatMap((each) => this.#targets(each, sourceText) ?? this.backend(each) ?? []).slice(0, mostTried);
    }
    return this.#targets(id, sourceText);
  }

  /** The addresses of a backend in the order in which they are to be tried; undefined where it has one that nobody watches. */
  #targets(id: string, sourceText: string): readonly Candidate[] | undefined {
    const addresses = this.#parts.health.find(id);
    if (addresses === undefined) return undefined;
    const facts: ChoiceFacts = { source: () => sourceText, header: () => undefined };
    const targets: Target[] = [];
    for (let next = addresses.choose(facts, targets); next !== undefined; next = addresses.choose(facts, targets))
      targets.push(next);
    return targets.map((target) => ({ source: this.#socketSource(target), target }));
  }

  backend(id: string | undefined): Candidate | undefined {
    if (id === undefined) return undefined;
    const { edges, tunnels } = this.#parts;
    const entry = edges.backend(id);
    if (entry !== undefined) return { source: this.#socketSource(entry) };
    const source = tunnels.find(id) ?? edges.groups.answer(id);
    return source && { source };
  }

  #socketSource(target: UpstreamTarget): SocketSource {
    return new SocketSource(target, this.#parts.connect, this.#settings.timeouts.upstreamConnectMs, 'bytes');
  }

  /** Candidates that were found some time ago, as they are now. */
  asNow(chosen: readonly Candidate[]): readonly Candidate[] {
    return chosen.map((each) => (each.target === undefined ? (this.backend(each.source.id) ?? each) : each));
  }

  /** Sends a client to the first of these that can be reached. */
  reach(accepted: AcceptedClient, candidates: readonly Candidate[]): void {
    if (candidates.length > 1 || candidates[0]?.target !== undefined) this.#failOver(accepted, candidates);
    else this.#send(accepted, candidates[0]);
  }

  #take(id: string, { edge, visit }: AcceptedClient): UpstreamSlot | UpstreamBound {
    return this.#parts.upstreams.backend(id, edge.rules.accountId).take(visit.countedSource);
  }

  /** Sends a client to the one backend that is left for it. */
  #send(accepted: AcceptedClient, backend: Candidate | undefined): void {
    const slot = backend && this.#take(backend.source.id, accepted);
    if (backend === undefined || typeof slot !== 'object') {
      this.#turnAway(accepted, slot === undefined ? 'no backend' : 'too many connections');
      return;
    }
    const { source } = backend;
    if (source instanceof TunnelBackend) this.#dial(accepted, source, slot);
    else if (source instanceof FixedAnswer) this.#join(accepted, joinStream(source.connect()), slot);
    else this.#join(accepted, connectBackend(this.#parts.connect, source.target), slot);
  }

  #turnAway({ client, edge, sourceText, decision }: AcceptedClient, reason: string): void {
    resetSocket(client);
    const nothingMoved = { bytesIn: 0, bytesOut: 0, durationMs: 0 };
    this.#parts.observer.tcpClosed({ edgeId: edge.rules.id, source: sourceText, ...nothingMoved, reason }, decision);
  }

  /** Tries backends and addresses in order. A last one that nobody watches is asked as if it were the only one. */
  #failOver(accepted: AcceptedClient, candidates: readonly Candidate[]): void {
    const { groups } = this.#parts.edges;
    const last = candidates.at(-1);
    const isSent = last !== undefined && last.target === undefined;
    const tried = isSent ? candidates.slice(0, -1) : candidates;
    const isOfGroup = groups.has(accepted.edge.rules.backendId ?? '');
    const failover = new TcpFailover(accepted, {
      members: tried.map((candidate) => this.#member(candidate, accepted)),
      failed: ({ candidate: { source, target } }, cause) => {
        if (target !== undefined) this.#parts.health.failed(target, cause);
        else if (isOfGroup) groups.failed(source.id);
      },
      reached: ({ candidate: { source, target }, isTrial }) => {
        if (target === undefined && isOfGroup) groups.reached(source.id);
        else if (target !== undefined && isTrial) this.#parts.health.answered(target);
      },
      opened: (done, stream, slot) => {
        this.#join(accepted, joinStream(stream), slot);
        this.#parts.edges.closed(done);
      },
      exhausted: (done) => {
        if (isSent) this.#send(accepted, last);
        else this.#turnAway(accepted, 'connect failed');
        this.#parts.edges.closed(done);
        this.#parts.closed();
      },
      closed: (done) => {
        this.closed(done);
      },
    });
    this.#parts.edges.opened(failover);
    failover.start();
  }

  #member(candidate: Candidate, accepted: AcceptedClient): Member {
    const { source, target } = candidate;
    return {
      candidate,
      isTrial: target?.isFailing === true,
      take: () => {
        const slot = this.#take(source.id, accepted);
        if (typeof slot !== 'object') return undefined;
        return target === undefined ? slot : countUse(target, slot);
      },
      open: (outcome) => source.open(() => this.#visitor(accepted), noneIdle, outcome),
    };
  }

  #join(accepted: AcceptedClient, open: OpenUpstream, slot: Pick<UpstreamSlot, 'close'>): void {
    this.#parts.edges.opened(new TcpConnection(accepted, open, slot, this.#settings));
  }

  #dial(accepted: AcceptedClient, backend: TunnelBackend, slot: UpstreamSlot): void {
    const visitor = (): VisitorFacts => this.#visitor(accepted);
    const opened = (dialing: TcpDialing, stream: Duplex): void => {
      this.#join(accepted, joinStream(stream), slot);
      this.#parts.edges.closed(dialing);
    };
    const closed = (opening: Opening): void => {
      this.closed(opening);
    };
    const tunnels = this.#parts.tunnels;
    this.#parts.edges.opened(new TcpDialing(accepted, { backend, tunnels, slot, visitor, opened, closed }));
  }

  #visitor({ client, port, visit: { source }, edge, hops }: AcceptedClient): VisitorFacts {
    const scheme = hops.at(-1)?.target.scheme ?? (edge.rules.kind === 'tls_endpoint' ? 'tls' : 'tcp');
    const isEndpoint = scheme === 'tls';
    return {
      source: { ip: source, port },
      destination: () => ({ ip: parseIp(client.localAddress ?? '') ?? source, port: client.localPort ?? 0 }),
      proto: isEndpoint ? 'tls' : 'tcp',
      isTls: isEndpoint && !(client instanceof TLSSocket),
    };
  }

  closed(connection: TcpConnection | Opening): void {
    this.#parts.edges.closed(connection);
    this.#parts.observer.tcpClosed(connection.report, connection.accepted.decision);
    this.#parts.closed();
  }
}

/** Counts a connection for the address until its place is free. */
function countUse(target: Target, slot: UpstreamSlot): Pick<UpstreamSlot, 'close'> {
  let isOpen = true;
  target.inUse++;
  return {
    close() {
      if (isOpen) target.inUse--;
      isOpen = false;
      slot.close();
    },
  };
}
