import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket } from 'node:tls';

import { newOperationId } from '../../lib/ids.ts';
import { formatIp, parseIp } from '../../lib/ip/address.ts';
import { identifyClient } from '../../lib/ip/identify-client.ts';
import type { ClientRules, ClientSource } from '../../lib/ip/identify-client.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { SetAside, SnapshotUpdate } from '../../snapshot/contract.ts';
import type { EngineBounds } from '../bounds/engine-bounds.ts';
import { proxiesKey, sourceKey } from '../../lib/ip/source-key.ts';
import type { Front, GatewayLog, GatewayOptions, TrafficObserver } from '../engine.ts';
import type { CertificateSource } from '../https/client/certificate-source.ts';
import { TunnelBackend } from '../tunnels/tunnel-backend.ts';
import type { TunnelBackends } from '../tunnels/tunnel-backends.ts';
import type { UpstreamSlot } from '../bounds/upstream-connections.ts';
import { ownArrivals } from '../upstream/arrivals.ts';
import type { Arrivals } from '../upstream/arrivals.ts';
import type { ConnectUpstream } from '../upstream/connect.ts';
import { TcpConnection } from './connection.ts';
import type { AcceptedClient, ConnectionSettings } from './connection.ts';
import { TcpDialing } from './dialing.ts';
import { EdgeTable } from './edge-table.ts';
import { judge } from './edge.ts';
import type { TcpEdge } from './edge.ts';
import type { PortListener } from './port-listener.ts';
import { PortTable } from './port-table.ts';
import { TlsOpening } from './terminate-tls.ts';
import { createBackendConnector, joinStream, resetSocket } from './upstream.ts';
import type { ConnectBackend, OpenUpstream } from './upstream.ts';

export interface TcpFrontParts {
  readonly options: GatewayOptions;
  /** Must swap before the front does, which checks open connections by it. */
  readonly access: AccessTable;
  readonly observer: TrafficObserver;
  readonly log: GatewayLog;
  readonly connect: ConnectUpstream;
  /** Must swap before the front does. */
  readonly tunnels: TunnelBackends;
  readonly arrivals: Arrivals;
  readonly bounds: EngineBounds;
  /** For TLS endpoints that end here; must follow snapshots by itself. */
  readonly certificates?: CertificateSource | undefined;
}

/** Connections of TLS whose bytes are passed on, by the name in their handshake. */
export interface TlsPassThrough {
  /** True if there is a TLS endpoint of exactly this name; a wildcard is asked for as such. */
  serves(name: string): boolean;
  /** Takes over a client that has been counted, and whose first bytes have been put back. */
  accept(client: Socket, identified: ClientSource, name: string): void;
}

export function createTcpFront(parts: TcpFrontParts): Front & TlsPassThrough {
  return new TcpFront(parts);
}

/** Passes the bytes of connections on: those to the ports of TCP edges, and those for TLS endpoints, which may end here. */
class TcpFront implements Front, TlsPassThrough {
  readonly #access: AccessTable;
  readonly #observer: TrafficObserver;
  readonly #bounds: EngineBounds;
  readonly #tunnels: TunnelBackends;
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
    const { options, access, observer, log, connect, tunnels, arrivals, bounds, certificates } = parts;
    const { timeouts, trustedProxies, proxyProtocol } = options;
    this.#access = access;
    this.#observer = observer;
    this.#bounds = bounds;
    this.#tunnels = tunnels;
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
    this.#edges = new EdgeTable(access, this.#ports, { certificates, handshakeMs: timeouts.headersMs });
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
    this.#admit(this.#edges.named(name), client, identified, name);
  }

  #accept(listener: PortListener, client: Socket): void {
    const countSource = this.#bounds.clients.accept(client);
    if (countSource === undefined) return;
    let isIdentified = false;
    identifyClient(client, listener.port, this.#clientRules, (identified) => {
      isIdentified = true;
      this.#identifying.delete(client);
      if (countSource(identified)) this.#admit(listener.edge, client, identified, listener.port);
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
    const { id: edgeId, accountId, pipeline } = edge.rules;
    const { verdict, warnedBy, refusedBy } = judge(edge.rules, source, this.#access);
    const sourceText = formatIp(source);
    const { backendId } = pipeline;
    const decision = { connectionId: newOperationId(), accountId, claim, warnedBy, refusedBy, backendId };
    this.#observer.tcpOpened({ edgeId, source: sourceText, verdict }, decision);
    if (verdict !== 'allowed') {
      resetSocket(client);
      return;
    }
    if (warnedBy.length > 0) this.#observer.warned(warnedBy, source);
    const backend = this.#edges.backend(backendId) ?? this.#tunnels.find(backendId);
    // A trusted proxy forwards for many clients.
    const counted = identified.peerTrusted ? proxiesKey : sourceKey(source);
    const slot = backend && this.#bounds.upstreams.backend(backend.id, accountId).take(counted);
    if (backend !== undefined && typeof slot === 'object') {
      const accepted = { client, source, sourceText, claim, edge, decision, certificate: undefined };
      if (backend instanceof TunnelBackend) this.#reach(accepted, identified, backend, slot);
      else this.#join(accepted, (user) => this.#connect(backend, user), slot);
      return;
    }
    resetSocket(client);
    const nothingMoved = { bytesIn: 0, bytesOut: 0, durationMs: 0 };
    const reason = slot === undefined ? 'no backend' : 'too many connections';
    this.#observer.tcpClosed({ edgeId, source: sourceText, ...nothingMoved, reason }, decision);
  }

  #join(accepted: AcceptedClient, open: OpenUpstream, slot: UpstreamSlot): void {
    this.#edges.opened(new TcpConnection(accepted, open, slot, this.#connectionSettings));
  }

  /** Ends TLS here first, where the endpoint asks for it. */
  #reach(accepted: AcceptedClient, identified: ClientSource, backend: TunnelBackend, slot: UpstreamSlot): void {
    const { termination } = accepted.edge.rules;
    if (termination === undefined) {
      this.#dial(accepted, identified, backend, slot);
      return;
    }
    const opened = (opening: TlsOpening, secured: AcceptedClient): void => {
      // The endpoint may have other agents by now.
      this.#dial(secured, identified, this.#tunnels.find(backend.id) ?? backend, slot);
      this.#edges.closed(opening);
    };
    const closed = (opening: TlsOpening): void => {
      this.#closed(opening);
    };
    this.#edges.opened(new TlsOpening(accepted, { termination, slot, opened, closed }));
  }

  #dial(accepted: AcceptedClient, identified: ClientSource, backend: TunnelBackend, slot: UpstreamSlot): void {
    const { client, source, edge } = accepted;
    const isEndpoint = edge.rules.kind === 'tls_endpoint';
    const visitor = {
      source: { ip: source, port: identified.port },
      destination: () => ({ ip: parseIp(client.localAddress ?? '') ?? source, port: client.localPort ?? 0 }),
      proto: isEndpoint ? ('tls' as const) : ('tcp' as const),
      isTls: isEndpoint && !(client instanceof TLSSocket),
    };
    const connectMs = this.#connectionSettings.timeouts.upstreamConnectMs;
    const opened = (dialing: TcpDialing, stream: Duplex): void => {
      this.#join(accepted, joinStream(stream), slot);
      this.#edges.closed(dialing);
    };
    const closed = (dialing: TcpDialing): void => {
      this.#closed(dialing);
    };
    const tunnels = this.#tunnels;
    this.#edges.opened(new TcpDialing(accepted, { backend, tunnels, slot, visitor, connectMs, opened, closed }));
  }

  #closed(connection: TcpConnection | TcpDialing | TlsOpening): void {
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
