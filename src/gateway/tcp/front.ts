import type { Socket } from 'node:net';

import { readEndpointUrl } from '../../lib/endpoint-url.ts';
import { newOperationId } from '../../lib/ids.ts';
import { formatIp } from '../../lib/ip/address.ts';
import { identifyClient } from '../../lib/ip/identify-client.ts';
import type { ClientRules, ClientSource } from '../../lib/ip/identify-client.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { SetAside, SnapshotUpdate } from '../../snapshot/contract.ts';
import type { Position } from '../../modules/run-steps.ts';
import type { ConnectionServices, ConnectionVisit, EndpointFacts } from '../../modules/step.ts';
import { visitBudget } from '../../modules/visit-budget.ts';
import type { EngineBounds } from '../bounds/engine-bounds.ts';
import { proxiesKey, sourceKey } from '../../lib/ip/source-key.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';
import type { Front, TrafficObserver } from '../engine.ts';
import type { FrontParts } from '../front-parts.ts';
import type { CertificateSource } from '../https/client/certificate-source.ts';
import { connectionFacts } from '../tls/connection-facts.ts';
import { ownArrivals } from '../upstream/arrivals.ts';
import { TcpBackends } from './backends.ts';
import type { Candidate } from './backends.ts';
import type { AcceptedClient } from './connection.ts';
import { EdgeTable } from './edge-table.ts';
import { judgeEdge, tellRefusal } from './edge.ts';
import type { EdgeRules, TcpEdge } from './edge.ts';
import { goThrough } from './forwarded.ts';
import type { Passed } from './forwarded.ts';
import type { PortListener } from './port-listener.ts';
import { PortTable } from './port-table.ts';
import { termsFault } from '../tls/terms.ts';
import { TlsOpening } from './terminate-tls.ts';
import type { TlsTermination } from './terminate-tls.ts';
import { resetSocket } from './upstream.ts';

interface TcpFrontParts extends FrontParts {
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

const none: readonly never[] = [];

/** A trusted proxy forwards for many clients. */
function countedSource({ source, peerTrusted }: ClientSource): SourceKey {
  return peerTrusted ? proxiesKey : sourceKey(source);
}

/** Passes the bytes of connections on: those to the ports of TCP edges, and those for TLS edges and endpoints, whose TLS may end here. */
export class TcpFront implements Front, TlsPassThrough {
  readonly #access: AccessTable;
  readonly #observer: TrafficObserver;
  readonly #bounds: EngineBounds;
  readonly #services: ConnectionServices;
  readonly #clientRules: ClientRules;
  readonly #ports: PortTable;
  readonly #edges: EdgeTable;
  readonly #backends: TcpBackends;
  readonly #watchTimer: NodeJS.Timeout;
  /** Clients whose source is not known yet. */
  readonly #identifying = new Set<Socket>();
  #draining = false;
  #drained = (): void => {};

  constructor(parts: TcpFrontParts) {
    const { options, access, observer, log, connect, tunnels, health, arrivals, bounds, certificates, services } =
      parts;
    const { timeouts, trustedProxies, proxyProtocol } = options;
    this.#access = access;
    this.#observer = observer;
    this.#bounds = bounds;
    this.#services = services;
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
    this.#edges = new EdgeTable(
      access,
      this.#ports,
      { certificates, handshakeMs: timeouts.headersMs, secrets: services.secrets },
      health,
    );
    this.#backends = new TcpBackends({
      edges: this.#edges,
      connect,
      tunnels,
      health,
      upstreams: bounds.upstreams,
      observer,
      timeouts,
      closed: () => this.#checkDrained(),
    });
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

  checkOpen(): Promise<void> {
    return this.#edges.checkOpen();
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
    let wouldRefuse: string | undefined;
    const warn = (by: string): undefined => {
      wouldRefuse ??= by;
    };
    const visit = this.#visitOf(rules, client, identified, claim, warn);
    const { refusal, warnedBy, refusedBy } = judgeEdge(rules, source, this.#access);
    const passed = refusal === undefined ? this.#goThrough(visit, rules, client, identified) : undefined;
    const { outcome = refusal, module, hops = none, backendId: wantedId } = passed ?? {};
    const sourceText = formatIp(source);
    const candidates = outcome === undefined ? this.#backends.candidates(wantedId, sourceText) : undefined;
    const backendId = candidates?.length === 1 ? candidates[0]?.source.id : wantedId;
    const decision = {
      connectionId: newOperationId(),
      accountId,
      claim,
      warnedBy,
      wouldRefuse,
      refusedBy,
      module,
      backendId,
      version: this.#access.version,
    };
    if (outcome !== undefined) {
      this.#observer.tcpOpened({ edgeId, source: sourceText, ...tellRefusal(outcome) }, decision);
      resetSocket(client);
      return;
    }
    if (warnedBy.length > 0) this.#observer.warned(warnedBy, source);
    const accepted: AcceptedClient = {
      client,
      port: identified.port,
      visit,
      sourceText,
      claim,
      edge,
      decision,
      hops,
      isSecuring: false,
      admittedBy: this.#edges.generation,
      untilMs: Infinity,
    };
    const own = candidates === undefined ? this.#backends.backend(backendId) : undefined;
    const wanted = candidates ?? (own === undefined ? none : [own]);
    const { termination } = rules;
    if (termination === undefined) this.#reach(accepted, wanted);
    // What agents serve may have others by now, after a handshake.
    else this.#terminate(accepted, termination, (secured) => this.#reach(secured, this.#backends.asNow(wanted)));
  }

  #reach(accepted: AcceptedClient, candidates: readonly Candidate[]): void {
    this.#allowed(accepted);
    this.#backends.reach(accepted, candidates);
  }

  #goThrough(visit: ConnectionVisit & Position, rules: EdgeRules, client: Socket, identified: ClientSource): Passed {
    return goThrough(visit, rules, {
      find: (accountId, url) => this.#edges.internal.find(accountId, url),
      visitAt: (target) => this.#visitOf(target, client, identified, 0, visit.warn, visit.budget),
    });
  }

  #allowed({ edge, sourceText: source, decision }: AcceptedClient): void {
    this.#observer.tcpOpened({ edgeId: edge.rules.id, source, verdict: 'allowed' }, decision);
  }

  /** Ends TLS here first. */
  #terminate(accepted: AcceptedClient, termination: TlsTermination, next: (secured: AcceptedClient) => void): void {
    let end: ReturnType<TlsTermination>;
    try {
      end = termination();
    } catch (error) {
      this.#refuseUnloadable(accepted, termsFault(error));
      return;
    }
    const opening = new TlsOpening(accepted, {
      termination: end,
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

  /** A certificate that rules name is missing. */
  #refuseUnloadable({ client, edge, sourceText: source, decision }: AcceptedClient, reason: string): void {
    this.#observer.tcpOpened({ edgeId: edge.rules.id, source, verdict: 'refused_unloadable', reason }, decision);
    resetSocket(client);
  }

  #notTerminated(opening: TlsOpening): void {
    const { accepted, refusal, refusedBy: module } = opening;
    if (refusal === undefined) {
      this.#allowed(accepted);
      this.#backends.closed(opening);
      return;
    }
    this.#edges.closed(opening);
    const { edge, sourceText: source, decision } = accepted;
    const refused = { edgeId: edge.rules.id, source, verdict: 'refused_by_certificate', reason: refusal } as const;
    this.#observer.tcpOpened(refused, { ...decision, module });
    this.#checkDrained();
  }

  #visitOf(
    at: Pick<EdgeRules, 'id' | 'accountId'> & { readonly kind?: EdgeRules['kind']; readonly url?: string },
    client: Socket,
    identified: ClientSource,
    claim: number | string,
    warn: ConnectionVisit['warn'],
    budget = visitBudget(),
  ): ConnectionVisit & Position {
    const { id, accountId } = at;
    return {
      facts: connectionFacts(client, identified.port, Date.now()),
      endpoint: () => endpointFacts(at, client, claim),
      policy: undefined,
      warn,
      budget,
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
      headers: none,
      services: this.#services,
    };
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
