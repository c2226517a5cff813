import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

import { readEndpointUrl } from '../../lib/endpoint-url.ts';
import { newOperationId } from '../../lib/ids.ts';
import { formatIp, parseIp } from '../../lib/ip/address.ts';
import { identifyClient } from '../../lib/ip/identify-client.ts';
import type { ClientRules, ClientSource } from '../../lib/ip/identify-client.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { SetAside, SnapshotUpdate } from '../../snapshot/contract.ts';
import type { Position } from '../../modules/run-steps.ts';
import type { ConnectionServices, ConnectionVisit, EndpointFacts } from '../../modules/step.ts';
import { takeRates } from '../bounds/take-rate.ts';
import type { EngineBounds } from '../bounds/engine-bounds.ts';
import { proxiesKey, sourceKey } from '../../lib/ip/source-key.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';
import type { Front, GatewayLog, GatewayOptions, TrafficObserver } from '../engine.ts';
import type { CertificateSource } from '../https/client/certificate-source.ts';
import type { ChoiceFacts } from '../health/backend-addresses.ts';
import type { HealthTable } from '../health/health-table.ts';
import type { Target } from '../health/target.ts';
import type { TunnelBackend, VisitorFacts } from '../tunnels/tunnel-backend.ts';
import type { TunnelBackends } from '../tunnels/tunnel-backends.ts';
import type { UpstreamBound } from '../bounds/bound.ts';
import type { UpstreamSlot } from '../bounds/upstream-connections.ts';
import { connectionFacts } from '../tls/connection-facts.ts';
import { ownArrivals } from '../upstream/arrivals.ts';
import type { Arrivals } from '../upstream/arrivals.ts';
import { policyNotes } from '../policy-notes.ts';
import type { VaultSecrets } from '../vault-secrets.ts';
import type { ConnectUpstream, UpstreamTarget } from '../upstream/connect.ts';
import { SocketSource } from '../upstream/socket-source.ts';
import { TunnelSource } from '../upstream/tunnel-source.ts';
import type { UpstreamSource } from '../upstream/upstream-source.ts';
import { TcpConnection } from './connection.ts';
import type { AcceptedClient, ConnectionSettings } from './connection.ts';
import { TcpDialing } from './dialing.ts';
import { EdgeTable } from './edge-table.ts';
import { judgeEdge, verdictOf } from './edge.ts';
import type { EdgeRules, TcpEdge } from './edge.ts';
import { TcpFailover } from './failover.ts';
import { goThrough } from './forwarded.ts';
import type { Passed } from './forwarded.ts';
import type { Member } from './failover.ts';
import type { Opening } from './opening.ts';
import type { PortListener } from './port-listener.ts';
import { PortTable } from './port-table.ts';
import { TlsOpening } from './terminate-tls.ts';
import type { TlsTermination } from './terminate-tls.ts';
import { createBackendConnector, joinStream, resetSocket } from './upstream.ts';
import type { ConnectBackend, OpenUpstream } from './upstream.ts';

/** A backend, or one address of it, that a client may be sent to. */
interface Candidate {
  readonly source: UpstreamSource;
  /** Set for one of several addresses of a backend, or one that is checked. */
  readonly target?: Target;
  /** Sends a client to it as the only one that is left; an address is only tried. */
  readonly send?: (accepted: AcceptedClient, slot: UpstreamSlot) => void;
}

/** Most of them that are tried for one client. */
const mostTried = 16;

export interface TcpFrontParts {
  readonly options: GatewayOptions;
  /** Must swap before the front does, which checks open connections by it. */
  readonly access: AccessTable;
  readonly observer: TrafficObserver;
  readonly log: GatewayLog;
  readonly connect: ConnectUpstream;
  /** Must swap before the front does. */
  readonly tunnels: TunnelBackends;
  /** Must swap before the front does. */
  readonly health: HealthTable;
  readonly arrivals: Arrivals;
  readonly bounds: EngineBounds;
  /** Must swap before the front does. */
  readonly secrets: VaultSecrets;
  /** For TLS that ends here; must follow snapshots by itself. */
  readonly certificates?: CertificateSource | undefined;
}

/** Connections of TLS whose bytes are passed on, read or unread, by the name in their handshake. */
export interface TlsPassThrough {
  /** True if there is a TLS edge or endpoint of exactly this name; a wildcard is asked for as such. */
  serves(name: string): boolean;
  /** Takes over a client that has been counted, and whose first bytes have been put back. */
  accept(client: Socket, identified: ClientSource, name: string): void;
}

export function createTcpFront(parts: TcpFrontParts): Front & TlsPassThrough {
  return new TcpFront(parts);
}

/** A trusted proxy forwards for many clients. */
function countedSource({ source, peerTrusted }: ClientSource): SourceKey {
  return peerTrusted ? proxiesKey : sourceKey(source);
}

/** Passes the bytes of connections on: those to the ports of TCP edges, and those for TLS edges and endpoints, whose TLS may end here. */
class TcpFront implements Front, TlsPassThrough {
  readonly #access: AccessTable;
  readonly #observer: TrafficObserver;
  readonly #bounds: EngineBounds;
  readonly #services: ConnectionServices;
  readonly #tunnels: TunnelBackends;
  readonly #health: HealthTable;
  readonly #open: ConnectUpstream;
  readonly #connect: ConnectBackend;
  readonly #clientRules: ClientRules;
  readonly #connectionSettings: ConnectionSettings;
  readonly #ports: PortTable;
  readonly #edges: EdgeTable;
  readonly #watchTimer: NodeJS.Timeout;
  /** Clients whose source is not known yet. */
  readonly #identifying = new Set<Socket>();
  #draining = false;
  #drained = (): void => {};

  constructor(parts: TcpFrontParts) {
    const { options, access, observer, log, connect, tunnels, health, arrivals, bounds, certificates, secrets } = parts;
    const { timeouts, trustedProxies, proxyProtocol } = options;
    this.#access = access;
    this.#observer = observer;
    this.#bounds = bounds;
    this.#services = { access, rates: takeRates(bounds.rates), secrets: secrets.service, notes: policyNotes(log) };
    this.#tunnels = tunnels;
    this.#health = health;
    this.#open = connect;
    this.#connect = createBackendConnector(connect);
    this.#clientRules = {
      proxyProtocol: proxyProtocol.tcp,
      trustedProxies,
      headersMs: timeouts.headersMs,
      ...ownArrivals(arrivals, observer),
    };
    this.#ports = new PortTable({
      host: options.tcpListenHost,
      reusePort: options.sharePorts,
      accept: (listener, socket) => {
        this.#accept(listener, socket);
      },
      failed: (port, error) => {
        log.error({ port, err: error }, 'the listener of a TCP edge could not take a connection');
      },
      observer,
      log,
    });
    this.#edges = new EdgeTable(access, this.#ports, { certificates, handshakeMs: timeouts.headersMs }, health);
    this.#connectionSettings = {
      timeouts,
      closed: (connection) => {
        this.#closed(connection);
      },
    };
    const watchEveryMs = Math.max(10, Math.min(1000, timeouts.upstreamConnectMs / 4, timeouts.idleMs / 4));
    this.#watchTimer = setInterval(() => {
      this.#edges.watchAll();
    }, watchEveryMs).unref();
  }

  async prepare(update: SnapshotUpdate, setAside: SetAside): Promise<() => void> {
    this.#ports.abandon();
    const built = this.#edges.build(update, setAside);
    // Connections that are still open obey changes, but no more are taken.
    if (!this.#draining) await this.#ports.stage(built.rules.flatMap(({ ports }) => ports));
    return () => {
      this.#edges.swap(update, built);
    };
  }

  abandon(): void {
    this.#ports.abandon();
  }

  async drain(limitMs: number): Promise<void> {
    this.#draining = true;
    this.#ports.closeAll();
    const timer = setTimeout(() => {
      this.#edges.abortAll('drained');
      for (const socket of this.#identifying) resetSocket(socket);
    }, limitMs);
    if (this.#isBusy()) await new Promise<void>((resolve) => (this.#drained = resolve));
    clearTimeout(timer);
    clearInterval(this.#watchTimer);
  }

  serves(name: string): boolean {
    return this.#edges.named(name) !== undefined;
  }

  accept(client: Socket, identified: ClientSource, name: string): void {
    // A direction that ends must not end the other.
    client.allowHalfOpen = true;
    this.#admit(this.#edges.oneOf(name, this.#edges.named(name)), client, identified, name);
  }

  #accept(listener: PortListener, client: Socket): void {
    const countSource = this.#bounds.clients.accept(client);
    if (countSource === undefined) return;
    let isIdentified = false;
    identifyClient(client, listener.port, this.#clientRules, (identified) => {
      isIdentified = true;
      this.#identifying.delete(client);
      if (countSource(identified))
        this.#admit(this.#edges.oneOf(listener.port, listener.edge), client, identified, listener.port);
      this.#checkDrained();
    });
    if (!isIdentified && !client.destroyed) this.#awaitSource(client);
  }

  #awaitSource(client: Socket): void {
    this.#identifying.add(client);
    client.on('close', () => {
      if (this.#identifying.delete(client)) this.#checkDrained();
    });
  }

  #admit(edge: TcpEdge | undefined, client: Socket, identified: ClientSource, claim: number | string): void {
    if (edge === undefined) {
      resetSocket(client);
      return;
    }
    const { source } = identified;
    const { rules } = edge;
    const { id: edgeId, accountId } = rules;
    const visit = this.#visitOf(rules, client, identified, claim);
    const { verdict: judged, warnedBy, refusedBy } = judgeEdge(rules, source, this.#access);
    const passed = judged === 'allowed' ? this.#goThrough(visit, rules, client, identified) : undefined;
    const { outcome, module, hops = [], backendId: wantedId } = passed ?? {};
    const verdict = outcome === undefined ? judged : verdictOf(outcome);
    const sourceText = formatIp(source);
    const candidates = verdict === 'allowed' ? this.#candidates(wantedId, sourceText) : undefined;
    const backendId = candidates?.length === 1 ? candidates[0]?.source.id : wantedId;
    const decision = { connectionId: newOperationId(), accountId, claim, warnedBy, refusedBy, module, backendId };
    if (verdict !== 'allowed') {
      this.#observer.tcpOpened({ edgeId, source: sourceText, verdict }, decision);
      resetSocket(client);
      return;
    }
    if (warnedBy.length > 0) this.#observer.warned(warnedBy, source);
    const { port } = identified;
    const open = { isSecuring: false, untilMs: Infinity };
    const accepted = { client, port, visit, sourceText, claim, edge, decision, hops, ...open };
    const own = candidates === undefined ? this.#backend(backendId) : undefined;
    const wanted = candidates ?? (own === undefined ? [] : [own]);
    const { termination } = rules;
    const next = (secured: AcceptedClient): void => {
      this.#allowed(secured);
      this.#reach(secured, wanted);
    };
    if (termination === undefined) next(accepted);
    else this.#terminate(accepted, termination, next);
  }

  #goThrough(visit: ConnectionVisit & Position, rules: EdgeRules, client: Socket, identified: ClientSource): Passed {
    return goThrough(visit, rules, {
      find: (accountId, url) => this.#edges.internal.find(accountId, url),
      visitAt: (target) => this.#visitOf(target, client, identified, 0),
    });
  }

  #allowed({ edge, sourceText: source, decision }: AcceptedClient): void {
    this.#observer.tcpOpened({ edgeId: edge.rules.id, source, verdict: 'allowed' }, decision);
  }

  /** Ends TLS here first. */
  #terminate(accepted: AcceptedClient, termination: TlsTermination, next: (secured: AcceptedClient) => void): void {
    const opening = new TlsOpening(accepted, {
      termination,
      opened: (done, secured) => {
        next(secured);
        this.#edges.closed(done);
        this.#checkDrained();
      },
      closed: (done) => {
        this.#notTerminated(done);
      },
    });
    this.#edges.opened(opening);
  }

  #notTerminated(opening: TlsOpening): void {
    const { accepted, refusal, refusedBy: module } = opening;
    if (refusal === undefined) {
      this.#allowed(accepted);
      this.#closed(opening);
      return;
    }
    this.#edges.closed(opening);
    const { edge, sourceText: source, decision } = accepted;
    const refused = { edgeId: edge.rules.id, source, verdict: 'refused_by_certificate', reason: refusal } as const;
    this.#observer.tcpOpened(refused, { ...decision, module });
    this.#checkDrained();
  }

  #reach(accepted: AcceptedClient, chosen: readonly Candidate[]): void {
    // What agents serve may have others by now, after a handshake.
    const candidates = chosen.map((each) =>
      each.target === undefined ? (this.#backend(each.source.id) ?? each) : each,
    );
    if (candidates.length > 1 || candidates[0]?.target !== undefined) this.#failOver(accepted, candidates);
    else this.#send(accepted, candidates[0]);
  }

  #visitOf(
    at: Pick<EdgeRules, 'id' | 'accountId'> & { readonly kind?: EdgeRules['kind']; readonly url?: string },
    client: Socket,
    identified: ClientSource,
    claim: number | string,
  ): ConnectionVisit & Position {
    const { id, accountId } = at;
    return {
      facts: connectionFacts(client, identified.port, Date.now()),
      endpoint: () => endpointFacts(at, client, claim),
      policy: undefined,
      at: 0,
      done: undefined,
      accountId,
      edgeId: id,
      ownerId: id,
      source: identified.source,
      countedSource: countedSource(identified),
      hostname: '',
      isTls13: false,
      certificate: undefined,
      headers: [],
      services: this.#services,
    };
  }

  /** Backends and addresses to try, where the id is that of a group, or of a backend with several addresses. */
  #candidates(id: string | undefined, sourceText: string): readonly Candidate[] | undefined {
    if (id === undefined || this.#edges.backend(id)?.balance === undefined) {
      const ids = id === undefined ? undefined : this.#edges.groups.candidates(id);
      return ids?.flatMap((each) => this.#targets(each, sourceText) ?? this.#backend(each) ?? []).slice(0, mostTried);
    }
    return this.#targets(id, sourceText);
  }

  /** The addresses of a backend in the order in which they are to be tried; undefined where it has one that nobody watches. */
  #targets(id: string, sourceText: string): readonly Candidate[] | undefined {
    const addresses = this.#health.find(id);
    if (addresses === undefined) return undefined;
    const facts: ChoiceFacts = { source: () => sourceText, header: () => undefined };
    const targets: Target[] = [];
    for (let next = addresses.choose(facts, targets); next !== undefined; next = addresses.choose(facts, targets))
      targets.push(next);
    return targets.map((target) => ({ source: this.#socketSource(target), target }));
  }

  #backend(id: string | undefined): Candidate | undefined {
    if (id === undefined) return undefined;
    const entry = this.#edges.backend(id);
    if (entry !== undefined) {
      const open: OpenUpstream = (user) => this.#connect(entry, user);
      return { source: this.#socketSource(entry), send: (accepted, slot) => this.#join(accepted, open, slot) };
    }
    const { upstreamConnectMs } = this.#connectionSettings.timeouts;
    const tunnel = this.#tunnels.find(id);
    if (tunnel !== undefined)
      return {
        source: new TunnelSource(tunnel, upstreamConnectMs),
        send: (accepted, slot) => this.#dial(accepted, tunnel, slot),
      };
    const answer = this.#edges.groups.answer(id);
    if (answer === undefined) return undefined;
    const send: Candidate['send'] = (accepted, slot) => this.#join(accepted, joinStream(answer.connect()), slot);
    return { source: answer, send };
  }

  #socketSource(target: UpstreamTarget): UpstreamSource {
    return new SocketSource(target, this.#open, this.#connectionSettings.timeouts.upstreamConnectMs, 'bytes');
  }

  #take(id: string, { edge, visit }: AcceptedClient): UpstreamSlot | UpstreamBound {
    return this.#bounds.upstreams.backend(id, edge.rules.accountId).take(visit.countedSource);
  }

  /** Sends a client to the one backend that is left for it. */
  #send(accepted: AcceptedClient, backend: Candidate | undefined): void {
    const slot = backend && this.#take(backend.source.id, accepted);
    if (typeof slot === 'object') backend?.send?.(accepted, slot);
    else this.#turnAway(accepted, slot === undefined ? 'no backend' : 'too many connections');
  }

  #turnAway({ client, edge, sourceText, decision }: AcceptedClient, reason: string): void {
    resetSocket(client);
    const nothingMoved = { bytesIn: 0, bytesOut: 0, durationMs: 0 };
    this.#observer.tcpClosed({ edgeId: edge.rules.id, source: sourceText, ...nothingMoved, reason }, decision);
  }

  /** Tries backends and addresses in order. A last one that nobody watches is asked as if it were the only one. */
  #failOver(accepted: AcceptedClient, candidates: readonly Candidate[]): void {
    const { groups } = this.#edges;
    const last = candidates.at(-1);
    const tried = last?.send === undefined ? candidates : candidates.slice(0, -1);
    const isOfGroup = groups.has(accepted.edge.rules.backendId ?? '');
    const failover = new TcpFailover(accepted, {
      members: tried.map((candidate) => this.#member(candidate, accepted)),
      failed: ({ candidate: { source, target } }, cause) => {
        if (target !== undefined) this.#health.failed(target, cause);
        else if (isOfGroup) groups.failed(source.id);
      },
      reached: ({ candidate: { source, target }, isTrial }) => {
        if (target === undefined && isOfGroup) groups.reached(source.id);
        else if (target !== undefined && isTrial) this.#health.answered(target);
      },
      opened: (done, stream, slot) => {
        this.#join(accepted, joinStream(stream), slot);
        this.#edges.closed(done);
      },
      exhausted: (done) => {
        if (last?.send === undefined) this.#turnAway(accepted, 'connect failed');
        else this.#send(accepted, last);
        this.#edges.closed(done);
        this.#checkDrained();
      },
      closed: (done) => {
        this.#closed(done);
      },
    });
    this.#edges.opened(failover);
    failover.start();
  }

  #member(candidate: Candidate, accepted: AcceptedClient): Member<Candidate> {
    const { source, target } = candidate;
    return {
      candidate,
      isTrial: target?.isFailing === true,
      take: () => {
        const slot = this.#take(source.id, accepted);
        if (typeof slot !== 'object') return undefined;
        return target === undefined ? slot : countUse(target, slot);
      },
      open: (outcome) =>
        source.open(
          () => this.#visitor(accepted),
          () => 0,
          outcome,
        ),
    };
  }

  #join(accepted: AcceptedClient, open: OpenUpstream, slot: Pick<UpstreamSlot, 'close'>): void {
    this.#edges.opened(new TcpConnection(accepted, open, slot, this.#connectionSettings));
  }

  #dial(accepted: AcceptedClient, backend: TunnelBackend, slot: UpstreamSlot): void {
    const visitor = this.#visitor(accepted);
    const connectMs = this.#connectionSettings.timeouts.upstreamConnectMs;
    const opened = (dialing: TcpDialing, stream: Duplex): void => {
      this.#join(accepted, joinStream(stream), slot);
      this.#edges.closed(dialing);
    };
    const closed = (opening: Opening): void => {
      this.#closed(opening);
    };
    const tunnels = this.#tunnels;
    this.#edges.opened(new TcpDialing(accepted, { backend, tunnels, slot, visitor, connectMs, opened, closed }));
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

  #closed(connection: TcpConnection | Opening): void {
    this.#edges.closed(connection);
    this.#observer.tcpClosed(connection.report, connection.accepted.decision);
    this.#checkDrained();
  }

  #isBusy(): boolean {
    return this.#identifying.size > 0 || this.#edges.hasConnections;
  }

  #checkDrained(): void {
    if (this.#draining && !this.#isBusy()) this.#drained();
  }
}

/** The edge that a client connected to, or the internal endpoint that it was forwarded to. */
function endpointFacts(
  { id, kind, url = '' }: Pick<EdgeRules, 'id'> & { readonly kind?: EdgeRules['kind']; readonly url?: string },
  client: Socket,
  claim: number | string,
): EndpointFacts {
  const read = readEndpointUrl(url);
  if (read.ok) return { id, protocol: read.url.scheme, host: read.url.hostname, port: read.url.port };
  if (typeof claim === 'string') return { id, protocol: 'tls', host: claim, port: 443 };
  return { id, protocol: kind === 'tls_endpoint' ? 'tls' : 'tcp', host: client.localAddress ?? '', port: claim };
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
