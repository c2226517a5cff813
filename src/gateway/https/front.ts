import { createServer } from 'node:net';
import type { AddressInfo, Server, Socket } from 'node:net';

import type { ListenAddress } from '../../lib/host-port.ts';
import { formatIp } from '../../lib/ip/address.ts';
import { identifyClient } from '../../lib/ip/identify-client.ts';
import type { ClientSource } from '../../lib/ip/identify-client.ts';
import type { ConnectionServices } from '../../modules/step.ts';
import type { SetAside, SnapshotUpdate } from '../../snapshot/contract.ts';
import type { EngineBounds } from '../bounds/engine-bounds.ts';
import type { Front, GatewayOptions, InspectionTerms, ReplayOutcome, ReplayRequest, WrongPassword } from '../engine.ts';
import type { FrontParts } from '../front-parts.ts';
import { createFetch } from '../../sign-in/guarded-fetch.ts';
import type { KeptLogins } from '../../sign-in/kept-logins.ts';
import { Signatures } from '../../sign-in/signatures.ts';
import type { TlsPassThrough } from '../tcp/front.ts';
import { ownArrivals } from '../upstream/arrivals.ts';
import type { Arrivals } from '../upstream/arrivals.ts';
import { challengeProtocol } from '../certificates/challenges.ts';
import type { Challenges } from '../certificates/challenges.ts';
import type { VisitorKeys } from '../sign-in/visitor-keys.ts';
import { Tokens } from '../sign-in/tokens.ts';
import { Visitors } from '../sign-in/visitors.ts';
import { TlsHandshakes } from '../tls/handshakes.ts';
import { termsFault, termsReader } from '../tls/terms.ts';
import type { TermsNow } from '../tls/terms.ts';
import { withClientCa } from '../certificates/build-context.ts';
import { RequestQueue } from '../turns/request-queue.ts';
import { parseAuthority } from './authority.ts';
import type { CertificateSource } from './client/certificate-source.ts';
import { clientConnection } from './client/client-connection.ts';
import { Http1Server } from './client/h1/http1-server.ts';
import { Http2Server } from './client/h2-server.ts';
import { HelloPeek } from './client/hello-peek.ts';
import { closeOldest } from './client/idle-connection.ts';
import type { IdleConnection } from './client/idle-connection.ts';
import { TlsAcceptor } from './client/tls-acceptor.ts';
import type { Exchange } from './exchange.ts';
import { handleRequest } from './handle-request.ts';
import { IdleWatch } from './idle-watch.ts';
import { RequestInspector } from './inspect-requests.ts';
import { sendAgain } from './replays.ts';
import { OwnRequests } from './own-requests.ts';
import { OpenTunnels } from './open-tunnels.ts';
import { handlePlainRequest } from './plain-requests.ts';
import type { RequestContext } from './request-context.ts';
import { HostTable } from './routing/host-table.ts';
import type { SpecialHandshake } from './routing/route-table.ts';
import { BackendTable } from './upstream/backend-table.ts';
import { WrongPasswords } from './wrong-passwords.ts';

/** The sources of certificates and keys must follow snapshots by themselves, and swap before the front does. */
export interface HttpsFrontParts extends FrontParts {
  readonly certificates: CertificateSource;
  readonly challenges: Challenges;
  readonly visitorKeys: VisitorKeys;
  /** Prefix of error codes; default `ERR_GATEHOUSE`. */
  readonly errorPrefix?: string;
  /** Takes connections that are not to be decrypted here. */
  readonly passThrough: TlsPassThrough;
  readonly logins?: KeptLogins | undefined;
}

/** Interval at which a drain looks for connections that have become idle. */
const drainLookMs = 25;
/** Connections that may wait to be accepted, as far as the system allows: a burst must not be dropped. */
const backlog = 4096;

/** Ends TLS for names that ask for a version, or for certificates. */
interface SpecialTls {
  readonly key: string;
  readonly acceptor: TlsAcceptor;
  /** Set where rules say how TLS ends. */
  readonly read: ReturnType<typeof termsReader> | undefined;
}

/** Serves HTTPS edges, and redirects plain requests to them. */
export class HttpsFront implements Front {
  readonly #options: GatewayOptions;
  readonly #bounds: EngineBounds;
  readonly #hosts = new HostTable();
  readonly #backends: BackendTable;
  readonly #watch: IdleWatch;
  readonly #context: RequestContext;
  readonly #h1: Http1Server;
  readonly #h2: Http2Server;
  readonly #tls: TlsAcceptor;
  /** One for each kind of handshake, so that a client is always checked by those that its own connection asked for. */
  readonly #specialTls = new Map<string, SpecialTls>();
  readonly #acceptorFor: (special?: Partial<TermsNow>) => TlsAcceptor;
  readonly #secrets: ConnectionServices['secrets'];
  readonly #peek: HelloPeek;
  readonly #challenges: Challenges;
  /** Handshakes of certificate authorities, which carry nothing. */
  readonly #proving: TlsHandshakes;
  readonly #passThrough: TlsPassThrough;
  /** Speaks on connections without TLS. */
  readonly #plain: Http1Server;
  readonly #listeners = new Map<'https' | 'http', Server>();
  readonly #sockets = new Set<Socket>();
  readonly #arrivals: Arrivals;

  constructor(parts: HttpsFrontParts) {
    const { options, access, observer, certificates, log, errorPrefix, connect, tunnels, arrivals, bounds } = parts;
    this.#passThrough = parts.passThrough;
    const { timeouts } = options;
    const prefix = errorPrefix ?? 'ERR_GATEHOUSE';
    this.#options = options;
    this.#arrivals = arrivals;
    this.#bounds = bounds;
    this.#watch = new IdleWatch(Math.max(10, Math.min(1000, timeouts.idleMs / 4, timeouts.keepAliveMs / 4)));
    this.#backends = new BackendTable(
      {
        connectMs: timeouts.upstreamConnectMs,
        keepAliveMs: timeouts.keepAliveMs,
        connect,
        tunnels,
        health: parts.health,
        upstreams: bounds.upstreams,
      },
      this.#watch,
    );
    // Providers and issuers are asked over the connections of backends: addresses that lead inwards are refused.
    const fetchFor = createFetch(connect);
    const signatures = new Signatures({ fetchFor, log });
    const { visitorKeys: keys, logins } = parts;
    const { secrets } = parts.services;
    const visitors = new Visitors({ keys, fetchFor, signatures, logins, observer, log, secrets });
    const passwords = new WrongPasswords(options.passwordFailures, observer);
    this.#context = {
      hosts: this.#hosts,
      backends: this.#backends,
      tunnels,
      encoders: bounds.encoders,
      heldBodies: bounds.heldBodies,
      access,
      openTunnels: new OpenTunnels(this.#hosts, access),
      visitors,
      passwords,
      services: {
        ...parts.services,
        requests: new OwnRequests(
          (exchange) => handleRequest(exchange, this.#context),
          createFetch(connect, 'http-request'),
        ),
        passwords,
        tokens: new Tokens({ signatures }),
        logins: visitors,
      },
      observer,
      inspector: new RequestInspector(observer),
      log,
      trustedProxies: options.trustedProxies,
      watch: this.#watch,
      idleMs: timeouts.idleMs,
      errorPrefix: prefix,
      draining: false,
      toClose: 0,
    };
    keys.onEnded((accounts) => this.#context.openTunnels.checkSessions(accounts));
    const handle = (exchange: Exchange): void => {
      handleRequest(exchange, this.#context);
    };
    const queue = new RequestQueue();
    const http1 = { watch: this.#watch, timeouts, queue, errorPrefix: prefix };
    this.#h1 = new Http1Server({ ...http1, handle });
    this.#h2 = new Http2Server({
      timeouts,
      queue,
      watch: this.#watch,
      streamResets: bounds.limits.streamResets,
      onResets: ({ peerText }) => {
        bounds.reports.refused('stream_resets', { source: peerText });
      },
      handle,
    });
    this.#plain = new Http1Server({
      ...http1,
      handle: (exchange) => {
        handlePlainRequest(exchange, this.#context, parts.challenges);
      },
    });
    this.#peek = new HelloPeek(timeouts.headersMs);
    this.#challenges = parts.challenges;
    this.#proving = new TlsHandshakes({
      contextFor: (name) => parts.challenges.contextFor(name),
      limitMs: timeouts.headersMs,
      alpn: [challengeProtocol],
    });
    this.#secrets = secrets;
    this.#acceptorFor = ({ clientCa, own, needsTls13 = false, needsTls12 = false } = {}) =>
      new TlsAcceptor({
        contextFor: async (name) =>
          own === undefined
            ? certificates.secureContextFor(this.accountOfHost(name), name, clientCa)
            : clientCa === undefined
              ? own
              : withClientCa(own, clientCa),
        needsTls13,
        needsTls12,
        limitMs: timeouts.headersMs,
        ticketKeys: options.ticketKeys,
        h1: this.#h1,
        h2: this.#h2,
        clientCa,
        onFailed: (event) => {
          observer.handshakeFailed(event);
        },
      });
    this.#tls = this.#acceptorFor();
    bounds.clients.onFull((count) => closeOldest(this.#idleConnections(), count));
  }

  /** Addresses of the listeners: the system may have chosen the ports. */
  get addresses(): { readonly https: AddressInfo | undefined; readonly http: AddressInfo | undefined } {
    return { https: this.#addressOf('https'), http: this.#addressOf('http') };
  }

  /** Opens the listeners that the options name; after a failure, a further call opens those that are missing. */
  async listen(): Promise<void> {
    const { https, http } = this.#options;
    if (https !== undefined) await this.#open('https', https, (socket, client) => this.#acceptTls(socket, client));
    if (http !== undefined)
      await this.#open('http', http, (socket, client) => this.#plain.accept(socket, clientConnection(socket, client)));
  }

  async prepare(update: SnapshotUpdate, setAside: SetAside): Promise<() => void> {
    const swapHosts = await this.#hosts.prepare(update, setAside);
    const swapBackends = this.#backends.prepare(update, setAside);
    return () => {
      swapBackends();
      swapHosts();
      for (const key of this.#specialTls.keys()) {
        if (!this.#hosts.hasHandshake(key)) this.#specialTls.delete(key);
      }
      this.#context.openTunnels.follow(update);
    };
  }

  checkOpen(): Promise<void> {
    return this.#context.openTunnels.checkAgain();
  }

  /** The account whose edge serves the host. */
  accountOfHost(hostname: string): string | undefined {
    const authority = parseAuthority(hostname);
    return authority === undefined ? undefined : this.#hosts.find(authority.name)?.accountId;
  }

  /** Counts wrong passwords that have come to other workers. */
  countPasswords(wrong: readonly WrongPassword[]): void {
    for (const each of wrong) this.#context.passwords.count(each);
  }

  /** Asks so many clients to open a new connection: those of HTTP/2 once they have no request under way, others with their next answer. */
  relieve(clients: number): void {
    const sessions = this.#h2.count;
    const ofHttp2 = Math.round((clients * sessions) / Math.max(1, this.#sockets.size));
    this.#h2.relieve(ofHttp2);
    this.#context.toClose = clients - ofHttp2;
  }

  replay(request: ReplayRequest): Promise<ReplayOutcome> {
    return sendAgain(request, this.#hosts, (exchange) => {
      handleRequest(exchange, this.#context);
    });
  }

  inspect(terms: readonly InspectionTerms[]): void {
    this.#context.inspector.set(terms);
  }

  async drain(limitMs: number): Promise<void> {
    this.#context.draining = true;
    for (const listener of this.#listeners.values()) listener.close();
    this.#h2.goAway();
    const deadline = performance.now() + limitMs;
    while (this.#sockets.size > 0 && performance.now() < deadline) {
      this.#h1.closeIdle();
      this.#plain.closeIdle();
      await new Promise((resolve) => setTimeout(resolve, drainLookMs));
    }
    for (const socket of this.#sockets) socket.destroy();
    this.#backends.retire();
    this.#watch[Symbol.dispose]();
    this.#context.passwords[Symbol.dispose]();
  }

  #acceptTls(socket: Socket, client: ClientSource): void {
    this.#peek.read(socket, (servername, protocols) => {
      if (this.#challenges.isAsked(servername, protocols)) {
        this.#proving.accept(socket, { ready: (secure) => secure.end() });
        return;
      }
      const claim = servername === undefined ? undefined : this.#passedOn(servername);
      if (claim === undefined) this.#terminate(socket, client, servername ?? '');
      else this.#passThrough.accept(socket, client, claim);
    });
  }

  #terminate(socket: Socket, client: ClientSource, servername: string): void {
    const name = parseAuthority(servername)?.name;
    const edge = name === undefined ? undefined : this.#hosts.find(name);
    let acceptor = this.#tls;
    try {
      if (edge?.handshake !== undefined) acceptor = this.#special(edge.handshake, edge.accountId);
    } catch (error) {
      const failed = { reason: 'no_leaf', name: servername, source: formatIp(client.source) } as const;
      this.#context.observer.handshakeFailed({ ...failed, cause: termsFault(error) });
      socket.destroy();
      return;
    }
    acceptor.accept(socket, client, name);
  }

  /** Throws where rules say how TLS ends, and a certificate that they name is missing. */
  #special(handshake: SpecialHandshake, accountId: string): TlsAcceptor {
    const { key, clientCa, needsTls13, terms } = handshake;
    const known = this.#specialTls.get(key);
    const read = known?.read ?? (terms && termsReader(terms, this.#secrets));
    const now: Partial<TermsNow> & Pick<TermsNow, 'key'> = read?.(accountId) ?? { key, clientCa, needsTls13 };
    if (known?.key === now.key) return known.acceptor;
    const acceptor = this.#acceptorFor(now);
    this.#specialTls.set(key, { key: now.key, acceptor, read });
    return acceptor;
  }

  /** The name of the TLS endpoint that serves the host, which may be a wildcard; an exact name goes before it. */
  #passedOn(servername: string): string | undefined {
    const name = parseAuthority(servername)?.name;
    if (name === undefined) return undefined;
    if (this.#passThrough.serves(name)) return name;
    const wildcard = `*${name.slice(name.indexOf('.'))}`;
    if (!name.includes('.') || !this.#passThrough.serves(wildcard)) return undefined;
    return this.#hosts.find(name)?.names.includes(name) === true ? undefined : wildcard;
  }

  *#idleConnections(): Generator<IdleConnection> {
    yield* this.#peek.idleConnections();
    yield* this.#proving.idleConnections();
    yield* this.#tls.idleConnections();
    for (const { acceptor } of this.#specialTls.values()) yield* acceptor.idleConnections();
    yield* this.#h1.idleConnections();
    yield* this.#h2.idleConnections();
    yield* this.#plain.idleConnections();
  }

  #addressOf(kind: 'https' | 'http'): AddressInfo | undefined {
    const address = this.#listeners.get(kind)?.address();
    return typeof address === 'object' && address !== null ? address : undefined;
  }

  async #open(
    kind: 'https' | 'http',
    { host, port }: ListenAddress,
    accept: (socket: Socket, client: ClientSource) => void,
  ): Promise<void> {
    if (this.#listeners.has(kind)) return;
    const { observer } = this.#context;
    const rules = {
      proxyProtocol: this.#options.proxyProtocol[kind],
      trustedProxies: this.#options.trustedProxies,
      headersMs: this.#options.timeouts.headersMs,
      ...ownArrivals(this.#arrivals, observer),
    };
    let listeningPort = port;
    const server = createServer({ noDelay: true, keepAlive: true }, (socket) => {
      const countSource = this.#bounds.clients.accept(socket);
      if (countSource === undefined) return;
      this.#sockets.add(socket);
      if (kind === 'https') observer.httpsOpened();
      socket.on('close', () => {
        this.#sockets.delete(socket);
        if (kind === 'https') observer.httpsClosed();
      });
      identifyClient(socket, listeningPort, rules, (client) => {
        if (countSource(client)) accept(socket, client);
      });
    });
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen({ host, port, backlog, reusePort: this.#options.sharePorts }, () => {
        server.off('error', reject);
        resolve();
      });
    });
    this.#listeners.set(kind, server);
    listeningPort = this.#addressOf(kind)?.port ?? port;
  }
}
