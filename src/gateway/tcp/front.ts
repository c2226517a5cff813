import type { Socket } from 'node:net';

import { formatIp } from '../../lib/ip/address.ts';
import type { AccessTable } from '../../snapshot/access.ts';
import type { SetAside, SnapshotUpdate } from '../../snapshot/contract.ts';
import type { EngineBounds } from '../bounds/engine-bounds.ts';
import { proxiesKey, sourceKey } from '../bounds/source-key.ts';
import type { Front, GatewayLog, GatewayOptions, TrafficObserver } from '../engine.ts';
import { identifyClient, ownArrivals } from '../identify-client.ts';
import type { ClientRules, ClientSource } from '../identify-client.ts';
import type { Arrivals } from '../upstream/arrivals.ts';
import type { ConnectUpstream } from '../upstream/connect.ts';
import { TcpConnection } from './connection.ts';
import type { ConnectionSettings } from './connection.ts';
import { EdgeTable } from './edge-table.ts';
import { judge } from './edge.ts';
import type { PortListener } from './port-listener.ts';
import { PortTable } from './port-table.ts';
import { createBackendConnector, resetSocket } from './upstream.ts';

export interface TcpFrontParts {
  readonly options: GatewayOptions;
  /** Must swap before the front does, which checks open connections by it. */
  readonly access: AccessTable;
  readonly observer: TrafficObserver;
  readonly log: GatewayLog;
  readonly connect: ConnectUpstream;
  readonly arrivals: Arrivals;
  readonly bounds: EngineBounds;
}

export function createTcpFront(parts: TcpFrontParts): Front {
  return new TcpFront(parts);
}

class TcpFront implements Front {
  readonly #access: AccessTable;
  readonly #observer: TrafficObserver;
  readonly #bounds: EngineBounds;
  readonly #clientRules: ClientRules;
  readonly #connectionSettings: ConnectionSettings;
  readonly #ports: PortTable;
  readonly #edges: EdgeTable;
  readonly #watchTimer: NodeJS.Timeout;
  /** Clients whose PROXY header has not come yet. */
  readonly #identifying = new Set<Socket>();
  #draining = false;
  #drained = (): void => {};

  constructor({ options, access, observer, log, connect, arrivals, bounds }: TcpFrontParts) {
    const { timeouts, trustedProxies, proxyProtocol } = options;
    this.#access = access;
    this.#observer = observer;
    this.#bounds = bounds;
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
    this.#edges = new EdgeTable(access, this.#ports);
    this.#connectionSettings = {
      timeouts,
      connect: createBackendConnector(connect),
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
    if (this.#draining) throw new Error('the gateway is shutting down');
    this.#ports.abandon();
    const built = this.#edges.build(update, setAside);
    await this.#ports.stage(built.rules.flatMap(({ ports }) => ports));
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

  #accept(listener: PortListener, client: Socket): void {
    const countSource = this.#bounds.clients.accept(client);
    if (countSource === undefined) return;
    if (this.#clientRules.proxyProtocol) this.#awaitHeader(client);
    identifyClient(client, listener.port, this.#clientRules, (identified) => {
      this.#identifying.delete(client);
      if (countSource(identified)) this.#admit(listener, client, identified);
    });
  }

  #awaitHeader(client: Socket): void {
    this.#identifying.add(client);
    client.on('close', () => {
      if (this.#identifying.delete(client)) this.#checkDrained();
    });
  }

  #admit({ edge, port }: PortListener, client: Socket, { source, peerTrusted }: ClientSource): void {
    if (edge === undefined) {
      resetSocket(client);
      return;
    }
    const { id: edgeId, accountId, pipeline } = edge.rules;
    const { verdict, warnedBy } = judge(edge.rules, source, this.#access);
    const sourceText = formatIp(source);
    this.#observer.tcpOpened({ edgeId, source: sourceText, verdict });
    if (verdict !== 'allowed') {
      resetSocket(client);
      return;
    }
    if (warnedBy.length > 0) this.#observer.warned(warnedBy, source);
    const backend = this.#edges.backend(pipeline.backendId);
    // A trusted proxy forwards for many clients.
    const user = peerTrusted ? proxiesKey : sourceKey(source);
    const slot = backend && this.#bounds.upstreams.backend(backend.id, accountId).take(user);
    if (backend !== undefined && typeof slot === 'object') {
      const accepted = { client, source, sourceText, port, edge };
      this.#edges.opened(new TcpConnection(accepted, backend, slot, this.#connectionSettings));
      return;
    }
    resetSocket(client);
    const nothingMoved = { bytesIn: 0, bytesOut: 0, durationMs: 0 };
    const reason = slot === undefined ? 'no backend' : 'too many connections';
    this.#observer.tcpClosed({ edgeId, source: sourceText, ...nothingMoved, reason });
  }

  #closed(connection: TcpConnection): void {
    this.#edges.closed(connection);
    this.#observer.tcpClosed(connection.report);
    this.#checkDrained();
  }

  #isBusy(): boolean {
    return this.#identifying.size > 0 || this.#edges.hasConnections;
  }

  #checkDrained(): void {
    if (this.#draining && !this.#isBusy()) this.#drained();
  }
}
