import type { GatewayLog } from '../gateway/engine.ts';
import type { AddressHealth, HealthObserver } from '../gateway/health/health-board.ts';
import { logFields } from '../lib/log-fields.ts';
import type { Metrics } from './metrics.ts';

/** An address went down, or came back. */
export interface AddressFlip {
  readonly atMs: number;
  readonly address: string;
  readonly state: 'up' | 'down';
  readonly by?: 'check' | 'traffic' | undefined;
  readonly cause?: string | undefined;
}

/** State of one backend as this gateway sees it. */
export interface BackendReport {
  readonly addresses: readonly AddressHealth[];
  /** The newest first. */
  readonly flips: readonly AddressFlip[];
}

interface Watched {
  readonly addresses: Map<string, AddressHealth>;
  readonly flips: AddressFlip[];
}

const keptFlips = 20;

/** Keeps what the gateway of this process decides about addresses of backends, and tells operators of it. */
export class BackendHealth implements HealthObserver {
  readonly #metrics: Pick<Metrics, 'addressFlipped'>;
  readonly #log: GatewayLog;
  readonly #backends = new Map<string, Watched>();
  /** Backends of which something is new since they were taken. */
  readonly #changed = new Set<string>();

  constructor(metrics: Pick<Metrics, 'addressFlipped'>, log: GatewayLog) {
    this.#metrics = metrics;
    this.#log = log;
  }

  addressHealth(health: AddressHealth, isFlip: boolean): void {
    const { backendId, address } = health;
    const watched = this.#backends.get(backendId) ?? { addresses: new Map<string, AddressHealth>(), flips: [] };
    this.#backends.set(backendId, watched);
    const before = watched.addresses.get(address);
    watched.addresses.set(address, health);
    if (before?.state !== health.state || before.cause !== health.cause) this.#changed.add(backendId);
    if (isFlip) this.#flip(watched, health);
  }

  addressGone(backendId: string, address: string): void {
    const watched = this.#backends.get(backendId);
    watched?.addresses.delete(address);
    if (watched?.addresses.size === 0) this.#backends.delete(backendId);
    this.#changed.add(backendId);
  }

  /** Undefined if it is not watched here. */
  read(backendId: string): BackendReport | undefined {
    const watched = this.#backends.get(backendId);
    if (watched === undefined) return undefined;
    return { addresses: [...watched.addresses.values()], flips: watched.flips };
  }

  takeChanged(): readonly string[] {
    const changed = [...this.#changed];
    this.#changed.clear();
    return changed;
  }

  /** Has them reported again. */
  putBack(backendIds: readonly string[]): void {
    for (const id of backendIds) this.#changed.add(id);
  }

  *all(): Generator<AddressHealth> {
    for (const { addresses } of this.#backends.values()) yield* addresses.values();
  }

  #flip({ flips }: Watched, { backendId, address, state, by, cause, sinceMs = Date.now() }: AddressHealth): void {
    const isDown = state === 'down';
    flips.unshift({ atMs: sinceMs, address, state: isDown ? 'down' : 'up', by, cause: isDown ? cause : undefined });
    flips.splice(keptFlips);
    this.#metrics.addressFlipped(isDown ? 'down' : 'up');
    const fields = logFields({ backendId, address, by, ...(isDown && { cause }) });
    if (isDown) this.#log.warn(fields, 'an address of a backend is down: others get its traffic');
    else this.#log.info(fields, 'an address of a backend is up again');
  }
}
