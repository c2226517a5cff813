import type { Socket } from 'node:net';
import { createSecureContext, TLSSocket } from 'node:tls';
import type { SecureContext } from 'node:tls';

import { formatIp } from '../../lib/ip/address.ts';
import { sourceKey } from '../../lib/ip/source-key.ts';
import { identifyClient } from '../../lib/ip/identify-client.ts';
import type { ClientRules } from '../../lib/ip/identify-client.ts';
import { codes } from '../wire/frame.ts';
import { AgentConnection } from './agent-connection.ts';
import type { ConnectionSettings, SessionKeeper } from './agent-connection.ts';
import type { AgentSession } from './agent-session.ts';
import type { AgentPort } from './agent-port.ts';
import { watchSessions } from './bounds.ts';
import type { AgentSource } from './host.ts';
import { PendingSockets } from './pending-sockets.ts';

export interface AgentListenerOptions extends ConnectionSettings {
  /** Closed by its owner. */
  readonly port: AgentPort;
  readonly clientRules: ClientRules;
  /**
   * Returns the certificate for a server name, or for the local address of a connection without one. Undefined or a
   * rejection ends the handshake.
   */
  readonly contextFor: (name: string | undefined, localAddress: string) => Promise<SecureContext | undefined>;
}

const noCertificate = createSecureContext();

/** Accepts agents over TLS and keeps the sessions of those that are authenticated. */
export class AgentListener {
  readonly #options: AgentListenerOptions;
  /** Sockets and connections of agents that are not authenticated. */
  readonly #pending: PendingSockets;
  readonly #sessions = new Set<AgentSession>();
  readonly #byClient = new Map<string, AgentSession>();

  constructor(options: AgentListenerOptions) {
    const { bounds, limits } = options;
    this.#options = options;
    this.#pending = new PendingSockets(limits.pendingConnections);
    bounds.watch('agent_pending', limits.pendingConnections, () => this.pending);
    watchSessions(bounds, limits, this.#sessions);
  }

  /** Serves those that wait at the port, and all that come. */
  open(): void {
    const { port, log } = this.#options;
    const failed = (err: Error) => {
      log.error({ err }, 'the listener of agents has a fault');
    };
    port.serve((socket) => this.#arrive(socket), failed);
  }

  get port(): number {
    return this.#options.port.port;
  }

  get sessions(): ReadonlySet<AgentSession> {
    return this.#sessions;
  }

  /** Connections that are not authenticated yet. */
  get pending(): number {
    return this.#pending.size;
  }

  /** Takes no more agents, lets visitors leave for at most `limitMs`, then closes all sessions. */
  async drain(limitMs: number): Promise<void> {
    this.#options.port.hold();
    this.#pending.destroyAll();
    const sessions = [...this.#sessions];
    const drained = sessions.map((session) => session.drain(limitMs));
    for (const session of sessions) if (session.isOpen) this.#options.host.sessionDraining(session);
    await Promise.all(drained);
  }

  #arrive(socket: Socket): void {
    this.#makeRoom(this.#pending.add(socket));
    socket.on('close', () => this.#pending.delete(socket));
    identifyClient(socket, this.port, this.#options.clientRules, ({ source }) => {
      this.#makeRoom(this.#pending.identify(socket, sourceKey(source)));
      if (!socket.destroyed) void this.#secure(socket, { ip: source, text: formatIp(source) });
    });
  }

  #makeRoom(leaving: Socket | undefined): void {
    if (leaving === undefined) return;
    this.#options.bounds.refused('agent_pending', {});
    leaving.destroy();
  }

  async #secure(socket: Socket, source: AgentSource): Promise<void> {
    const { contextFor, limits, bounds } = this.#options;
    const localAddress = socket.localAddress ?? '';
    // Node's own limit starts anew with each byte, so that a client could hold a handshake open for ever.
    const timer = setTimeout(() => {
      bounds.refused('agent_auth_seconds', { source: source.text });
      socket.destroy();
    }, limits.authMs);
    socket.on('close', () => {
      clearTimeout(timer);
    });
    const context = await contextFor(undefined, localAddress).catch(ignore);
    if (socket.destroyed) return;
    // A server of Node's would have one certificate for all connections without a server name.
    const secured = new TLSSocket(socket, {
      isServer: true,
      secureContext: context ?? noCertificate,
      SNICallback: (name, done) => {
        void contextFor(name, localAddress).then(
          (chosen) => {
            done(chosen === undefined ? new Error('no certificate for this name') : null, chosen);
          },
          (error: unknown) => {
            done(error instanceof Error ? error : new Error(String(error)));
          },
        );
      },
    });
    secured.on('error', ignore).on('close', () => socket.destroy());
    secured.once('secure', () => {
      clearTimeout(timer);
      this.#connect(secured, socket, source);
    });
  }

  #connect(secured: TLSSocket, socket: Socket, source: AgentSource): void {
    const keeper: SessionKeeper = {
      up: (session) => {
        this.#pending.delete(socket);
        this.#up(session);
      },
      down: (session) => {
        this.#down(session);
      },
    };
    // The socket holds it.
    const connection = new AgentConnection(secured, source, this.#options, keeper);
    void connection;
  }

  #up(session: AgentSession): void {
    const { clientId } = session.facts;
    const predecessor = this.#byClient.get(clientId);
    this.#sessions.add(session);
    this.#byClient.set(clientId, session);
    predecessor?.close({ by: 'us', code: codes.none, text: 'the agent has connected again' });
  }

  #down(session: AgentSession): void {
    const { clientId } = session.facts;
    this.#sessions.delete(session);
    if (this.#byClient.get(clientId) === session) this.#byClient.delete(clientId);
  }
}

function ignore(): undefined {}
