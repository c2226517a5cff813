import { getCACertificates } from 'node:tls';

import { AccessTable } from '../snapshot/access.ts';
import type { SnapshotFollower, SnapshotUpdate } from '../snapshot/contract.ts';
import type { Engine, Front, GatewayLog, GatewayOptions, TrafficObserver } from './engine.ts';
import type { CertificateSource } from './https/client/certificate-source.ts';
import { createHttpsFront } from './https/front.ts';
import type { HttpsFront } from './https/front.ts';
import { createTcpFront } from './tcp/front.ts';

export interface NodeEngineParts {
  readonly options: GatewayOptions;
  readonly observer: TrafficObserver;
  readonly log: GatewayLog;
  /** Needed where there is an HTTPS listener. */
  readonly certificates: CertificateSource | undefined;
  /** What stands before the number of an error; default `ERR_GATEHOUSE`. */
  readonly errorPrefix?: string;
}

/** An update that is built but not in force. One of the two must be called, once. */
export interface StagedUpdate {
  /**
   * Puts it in force before it returns. Resolves when the HTTPS listeners are open too, which the first update opens:
   * before it there is nothing to serve, and a worker that joins others must not answer for them yet.
   */
  commit(): Promise<void>;
  abandon(): void;
}

/** The engine that moves traffic through Node's own sockets, in this process. */
export interface NodeEngine extends Engine {
  /** The first half of `apply`, for whoever has to swap several engines together. Not while another is staged. */
  stage(update: SnapshotUpdate): Promise<StagedUpdate>;
  /** Where the HTTPS front listens, once it does; useful when a port was left to the system. */
  readonly addresses: HttpsFront['addresses'];
}

export async function createNodeEngine(parts: NodeEngineParts): Promise<NodeEngine> {
  const access = new AccessTable();
  const tcp = createTcpFront({ ...parts, access });
  const https = openHttps(parts, access);
  // The fronts look at what these hold, so these swap first.
  const tables = https === undefined || parts.certificates === undefined ? [access] : [access, parts.certificates];
  return new SocketEngine(tables, tcp, https);
}

function openHttps(parts: NodeEngineParts, access: AccessTable): HttpsFront | undefined {
  const { certificates, options } = parts;
  if (options.https === undefined && options.http === undefined) return undefined;
  if (certificates === undefined) throw new Error('an HTTPS listener needs a source of certificates');
  const ca =
    options.upstreamAuthorities && [...getCACertificates('default'), ...options.upstreamAuthorities].join('\n');
  return createHttpsFront({ ...parts, certificates, access, upstreamTls: { verify: true, ca } });
}

class SocketEngine implements NodeEngine {
  readonly #tables: readonly SnapshotFollower[];
  readonly #fronts: readonly Front[];
  readonly #https: HttpsFront | undefined;
  #listening = false;
  #version = 0;
  /** Settles with the last update asked for: each waits for the one before it. */
  #last: Promise<void> = Promise.resolve();

  constructor(tables: readonly SnapshotFollower[], tcp: Front, https: HttpsFront | undefined) {
    this.#tables = tables;
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
    const applied = this.#last.then(() => this.#applyNow(update));
    this.#last = applied.catch(() => {});
    return applied;
  }

  async stage(update: SnapshotUpdate): Promise<StagedUpdate> {
    const followers = [...this.#tables, ...this.#fronts];
    const prepared = await Promise.allSettled(followers.map(async (follower) => follower.prepare(update)));
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

  async #applyNow(update: SnapshotUpdate): Promise<void> {
    const staged = await this.stage(update);
    await staged.commit();
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
