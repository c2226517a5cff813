import { Turns } from '../lib/turns.ts';
import { AccessTable } from '../snapshot/access.ts';
import type { SnapshotFollower, SnapshotUpdate } from '../snapshot/contract.ts';
import { SetAsideEntries } from '../snapshot/set-aside.ts';
import type { Engine, Front, GatewayLog, GatewayOptions, TrafficObserver } from './engine.ts';
import type { CertificateSource } from './https/client/certificate-source.ts';
import { createHttpsFront } from './https/front.ts';
import type { HttpsFront } from './https/front.ts';
import { createTcpFront } from './tcp/front.ts';
import { createConnector } from './upstream/connect.ts';
import type { ConnectUpstream } from './upstream/connect.ts';

export interface NodeEngineParts {
  readonly options: GatewayOptions;
  readonly observer: TrafficObserver;
  readonly log: GatewayLog;
  /** Needed where there is an HTTPS listener. */
  readonly certificates: CertificateSource | undefined;
  /** Prefix of error codes; default `ERR_GATEHOUSE`. */
  readonly errorPrefix?: string;
}

/** An update that is built but not in force. Either `commit` or `abandon` must be called, once. */
export interface StagedUpdate {
  /**
   * Puts the update in force before it returns. Resolves when the HTTPS listeners are open too, which the first update
   * opens: before it there is nothing to serve, and a worker that joins others must not answer for them yet.
   */
  commit(): Promise<void>;
  abandon(): void;
}

/** The engine that moves traffic through Node's own sockets, in this process. */
export interface NodeEngine extends Engine {
  /** The first half of `apply`, for a caller that swaps several engines together. Must not be called while an update is staged. */
  stage(update: SnapshotUpdate): Promise<StagedUpdate>;
  /** Addresses of the HTTPS front's listeners once they are open: the system may have chosen the ports. */
  readonly addresses: HttpsFront['addresses'];
}

export async function createNodeEngine(parts: NodeEngineParts): Promise<NodeEngine> {
  const access = new AccessTable();
  const connect = createConnector(parts.options.upstreamAuthorities);
  const tcp = createTcpFront({ ...parts, access, connect });
  const https = openHttps(parts, access, connect);
  // Tables swap before the fronts, which read them.
  const tables = https === undefined || parts.certificates === undefined ? [access] : [access, parts.certificates];
  const setAside = new SetAsideEntries((fault) => {
    parts.observer.entryFault(fault);
  });
  return new SocketEngine(tables, tcp, https, setAside);
}

function openHttps(parts: NodeEngineParts, access: AccessTable, connect: ConnectUpstream): HttpsFront | undefined {
  const { certificates, options } = parts;
  if (options.https === undefined && options.http === undefined) return undefined;
  if (certificates === undefined) throw new Error('an HTTPS listener needs a source of certificates');
  return createHttpsFront({ ...parts, certificates, access, connect });
}

class SocketEngine implements NodeEngine {
  readonly #tables: readonly SnapshotFollower[];
  readonly #fronts: readonly Front[];
  readonly #https: HttpsFront | undefined;
  readonly #setAside: SetAsideEntries;
  #listening = false;
  #version = 0;
  readonly #updates = new Turns();

  constructor(
    tables: readonly SnapshotFollower[],
    tcp: Front,
    https: HttpsFront | undefined,
    setAside: SetAsideEntries,
  ) {
    this.#tables = tables;
    this.#setAside = setAside;
    this.#fronts = https === undefined ? [tcp] : [tcp, https];
    this.#https = https;
  }

  get addresses(): HttpsFront['addresses'] {
    return this.#https?.addresses ?? { https: undefined, http: undefined };
  }

  get version(): number {
    return this.#version;
  }

  apply(update: SnapshotUpdate): Promise<void> {
    return this.#updates.run(async () => {
      const staged = await this.stage(update);
      await staged.commit();
    });
  }

  async stage(update: SnapshotUpdate): Promise<StagedUpdate> {
    const followers = [...this.#tables, ...this.#fronts];
    const faults = this.#setAside.begin(update);
    const prepared = await Promise.allSettled(
      followers.map(async (follower) => follower.prepare(update, faults.setAside)),
    );
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
      commit: () => {
        for (const swap of swaps) swap();
        this.#version = update.version;
        faults.commit();
        return this.#listen();
      },
      abandon: () => {
        this.#abandon();
      },
    };
  }

  async drain(limitMs: number): Promise<void> {
    await Promise.all(this.#fronts.map((front) => front.drain(limitMs)));
  }

  async #listen(): Promise<void> {
    if (this.#listening || this.#https === undefined) return;
    await this.#https.listen();
    this.#listening = true;
  }

  #abandon(): void {
    for (const front of this.#fronts) front.abandon?.();
  }
}
