import type { Socket } from 'node:net';

import type { Awaitable } from '../lib/awaitable.ts';
import { runUrgently } from '../lib/pace.ts';
import { Turns } from '../lib/turns.ts';
import type { KeptLogins } from '../sign-in/kept-logins.ts';
import { AccessTable } from '../snapshot/access.ts';
import type { SnapshotFollower, SnapshotUpdate } from '../snapshot/contract.ts';
import type { SnapshotFile } from '../snapshot/snapshot-file.ts';
import { SetAsideEntries } from '../snapshot/set-aside.ts';
import type { GatewayBounds } from './bounds/bound.ts';
import { createEngineBounds } from './bounds/engine-bounds.ts';
import type { EngineBounds } from './bounds/engine-bounds.ts';
import type {
  Engine,
  Front,
  GatewayLog,
  GatewayOptions,
  InspectionTerms,
  ReplayOutcome,
  ReplayRequest,
  RateReport,
  TrafficObserver,
  WrongPassword,
} from './engine.ts';
import { Challenges } from './certificates/challenges.ts';
import type { CertificateSource } from './https/client/certificate-source.ts';
import { HttpsFront } from './https/front.ts';
import type { HttpsFrontParts } from './https/front.ts';
import { HealthBoard } from './health/health-board.ts';
import type { AddressState, HealthNote, HealthObserver } from './health/health-board.ts';
import { HealthChecker } from './health/health-checker.ts';
import { HealthTable } from './health/health-table.ts';
import { VisitorKeys } from './sign-in/visitor-keys.ts';
import type { EndedHere } from './sign-in/visitor-keys.ts';
import { TcpFront } from './tcp/front.ts';
import { noDialer } from './tunnels/dialer.ts';
import type { TunnelDialer } from './tunnels/dialer.ts';
import { TunnelBackends } from './tunnels/tunnel-backends.ts';
import { createUpstream } from './upstream/create-upstream.ts';
import type { Upstream, UpstreamParts } from './upstream/create-upstream.ts';
import type { Arrival } from './upstream/upstream-sockets.ts';
import { connectionServices } from './connection-services.ts';
import { preparePolicies } from './prepare-policies.ts';
import { VaultSecrets } from './vault-secrets.ts';

export interface NodeEngineParts extends UpstreamParts {
  readonly options: GatewayOptions;
  readonly observer: TrafficObserver;
  readonly log: GatewayLog;
  /** Logins of visitors, which all processes share; without them no login is checked again. */
  readonly logins?: KeptLogins | undefined;
  /** Needed where there is an HTTPS listener. */
  readonly certificates: CertificateSource | undefined;
  /** Prefix of error codes; default `ERR_GATEHOUSE`. */
  readonly errorPrefix?: string;
  /** The way to agents; without it, what they serve is offline. */
  readonly dialer?: TunnelDialer;
  /** Takes what this process sees of addresses, where another one decides; else the engine decides, and makes checks, itself. */
  readonly noteHealth?: (note: HealthNote) => void;
  /** Told what the engine decides about addresses. */
  readonly health?: HealthObserver | undefined;
  /** Keeps what `apply` puts in force. */
  readonly file?: SnapshotFile | undefined;
}

/** An update that is built but not in force. Either `commit` or `abandon` must be called, once. */
export interface StagedUpdate {
  /**
   * Puts the update in force before it returns. Resolves when what is open obeys it, and the HTTPS listeners are open too, which the
   * first update opens: before it there is nothing to serve, and a worker that joins others must not answer for them yet.
   */
  commit(): Promise<void>;
  abandon(): void;
}

export async function createNodeEngine(parts: NodeEngineParts): Promise<NodeEngine> {
  const access = new AccessTable();
  const upstream = createUpstream(parts);
  const bounds = createEngineBounds(parts.options.bounds, parts.observer, parts.log);
  const { upstreamConnectMs } = parts.options.timeouts;
  const tunnels = new TunnelBackends(parts.dialer ?? noDialer, bounds.waits, upstreamConnectMs);
  const board = parts.noteHealth ? undefined : new HealthBoard((states) => health.set(states), parts.health);
  const note = parts.noteHealth ?? ((each: HealthNote) => board?.note([each]));
  const health = new HealthTable(note);
  const checker = new HealthChecker(upstream.connect, note);
  if (board !== undefined) checker.run(true);
  const secrets = new VaultSecrets();
  const services = connectionServices({ access, bounds, secrets, log: parts.log });
  const shared = { ...upstream, access, bounds, tunnels, health, services };
  const tcp = new TcpFront({ ...parts, ...shared });
  const challenges = new Challenges();
  const visitorKeys = new VisitorKeys();
  const https = openHttps(parts, { ...shared, challenges, visitorKeys, passThrough: tcp });
  // Tables swap before the fronts, which read them, and know new ports before the fronts open them.
  const tables = [
    upstream.listeners,
    upstream.arrivals,
    access,
    tunnels,
    challenges,
    health,
    ...(board ? [board] : []),
    checker,
    visitorKeys,
    secrets,
    ...(https && parts.certificates ? [parts.certificates] : []),
  ];
  const setAside = new SetAsideEntries((fault) => {
    parts.observer.entryFault(fault);
  });
  return new NodeEngine({
    tables,
    tcp,
    https,
    upstream,
    setAside,
    bounds,
    health,
    checker,
    visitorKeys,
    file: parts.file,
  });
}

function openHttps(
  parts: NodeEngineParts,
  shared: Omit<HttpsFrontParts, 'options' | 'observer' | 'log' | 'logins' | 'certificates' | 'errorPrefix'>,
): HttpsFront | undefined {
  const { certificates, options } = parts;
  if (options.https === undefined && options.http === undefined) return undefined;
  if (certificates === undefined) throw new Error('an HTTPS listener needs a source of certificates');
  return new HttpsFront({ ...parts, ...shared, certificates });
}

interface EngineParts {
  readonly tables: readonly SnapshotFollower[];
  readonly tcp: Front;
  readonly https: HttpsFront | undefined;
  readonly upstream: Upstream;
  readonly setAside: SetAsideEntries;
  readonly bounds: Pick<EngineBounds, 'clients' | 'reports' | 'change' | 'rates'>;
  readonly health: HealthTable;
  readonly checker: HealthChecker;
  readonly visitorKeys: VisitorKeys;
  readonly file: SnapshotFile | undefined;
}

/** The engine that moves traffic through Node's own sockets, in this process. */
export class NodeEngine implements Engine {
  readonly #parts: EngineParts;
  readonly #fronts: readonly Front[];
  readonly #https: HttpsFront | undefined;
  #listening = false;
  #version = 0;
  readonly #updates = new Turns();

  constructor(parts: EngineParts) {
    const { tcp, https } = parts;
    this.#parts = parts;
    this.#fronts = https === undefined ? [tcp] : [tcp, https];
    this.#https = https;
  }

  /** Addresses of the HTTPS front's listeners once they are open: the system may have chosen the ports. */
  get addresses(): HttpsFront['addresses'] {
    return this.#https?.addresses ?? { https: undefined, http: undefined };
  }

  get version(): number {
    return this.#version;
  }

  get clientCount(): number {
    return this.#parts.bounds.clients.count;
  }

  apply(update: SnapshotUpdate): Promise<void> {
    return this.#updates.run(async () => {
      const staged = await this.stage(update);
      await staged.commit();
      this.#parts.file?.follow(update);
    });
  }

  /** The first half of `apply`, for a caller that swaps several engines together. Must not be called while an update is staged. */
  async stage(update: SnapshotUpdate): Promise<StagedUpdate> {
    const followers = [...this.#parts.tables, ...this.#fronts];
    const faults = this.#parts.setAside.begin(update);
    const policies = new Set(await preparePolicies(update));
    const prepared = await Promise.allSettled(
      followers.map(async (follower) => follower.prepare(update, faults.setAside)),
    );
    policies.clear();
    const swaps: (() => void)[] = [];
    for (const result of prepared) {
      if (result.status === 'fulfilled') {
        swaps.push(result.value);
        continue;
      }
      this.#abandon();
      const { reason } = result;
      const cause = reason instanceof Error ? reason : new Error(String(reason));
      throw new Error(`snapshot version ${update.version} cannot be put in force: ${cause.message}`, { cause });
    }
    return {
      commit: async () => {
        for (const swap of swaps) swap();
        this.#version = update.version;
        faults.commit();
        // No other long work holds up that what is open obeys.
        const checked = runUrgently(() => Promise.all(this.#fronts.map((front) => front.checkOpen())));
        await Promise.all([this.#listen(), checked]);
      },
      abandon: () => {
        this.#abandon();
      },
    };
  }

  isOurs(arrived: Socket, port: number): Awaitable<boolean> {
    return this.#parts.upstream.arrivals.isOurs(arrived, port);
  }

  /** As in `HttpsFront`. */
  countPasswords(wrong: readonly WrongPassword[]): void {
    this.#https?.countPasswords(wrong);
  }

  /** Ends sessions of visitors who have signed out at another worker, also before the snapshot has them. */
  endSessions(sessions: readonly EndedHere[]): void {
    for (const [accountId, id] of sessions) this.#parts.visitorKeys.end(accountId, id);
  }

  countRates(reports: readonly RateReport[]): void {
    this.#parts.bounds.rates.add(reports);
  }

  async replay(request: ReplayRequest): Promise<ReplayOutcome> {
    return this.#https?.replay(request) ?? { state: 'gone' };
  }

  inspect(terms: readonly InspectionTerms[]): void {
    this.#https?.inspect(terms);
  }

  /** True if a socket of this process made the connection that has arrived at another one. */
  made(arrival: Arrival): boolean {
    return this.#parts.upstream.sockets.made(arrival);
  }

  /** Changes the limits; connections that are open stay. */
  changeBounds(bounds: GatewayBounds): void {
    this.#parts.bounds.change(bounds);
  }

  /** Asks so many clients of HTTP to open a new connection, which the system may give to another process. */
  relieve(clients: number): void {
    this.#https?.relieve(clients);
  }

  /** Takes what another process has decided about addresses. */
  setHealth(states: readonly AddressState[]): void {
    this.#parts.health.set(states);
  }

  /** Begins the active checks, which one process makes. */
  runChecks(): void {
    this.#parts.checker.run(true);
  }

  async drain(limitMs: number): Promise<void> {
    // Connections that wait to be accepted are accepted right before this phase of a turn; closing a listener resets them.
    await new Promise(setImmediate);
    await Promise.all(this.#fronts.map((front) => front.drain(limitMs)));
    this.#parts.checker.run(false);
    this.#parts.bounds.reports[Symbol.dispose]();
    this.#parts.bounds.rates[Symbol.dispose]();
  }

  async #listen(): Promise<void> {
    if (this.#listening || this.#https === undefined) return;
    await this.#https.listen();
    this.#listening = true;
    for (const [kind, address] of Object.entries(this.#https.addresses)) {
      if (address) this.#parts.upstream.listeners.add(kind, address.port);
    }
  }

  #abandon(): void {
    for (const front of this.#fronts) front.abandon?.();
  }
}
