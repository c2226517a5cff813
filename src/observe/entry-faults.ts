import type { GatewayLog, TrafficObserver } from '../gateway/engine.ts';
import type { Metrics } from './metrics.ts';

type EntryFault = Parameters<TrafficObserver['entryFault']>[0];

/** The entries of the configuration that this process cannot load, whichever of its parts reports them. */
export class EntryFaults {
  readonly #metrics: Metrics;
  readonly #log: GatewayLog;
  /** Reasons by kind and id. */
  readonly #reasons = new Map<string, string>();

  constructor(metrics: Metrics, log: GatewayLog) {
    this.#metrics = metrics;
    this.#log = log;
  }

  get count(): number {
    return this.#reasons.size;
  }

  report({ kind, id, cause }: EntryFault): void {
    const key = `${kind} ${id}`;
    const known = this.#reasons.get(key);
    if (known === cause?.message) return;
    if (cause === undefined) this.#reasons.delete(key);
    else this.#reasons.set(key, cause.message);
    this.#metrics.setFaultyEntries(this.#reasons.size);
    if (cause === undefined) this.#log.info({ kind, id }, 'an entry of the configuration is no longer faulty');
    else this.#log.error({ kind, id, err: cause }, 'an entry of the configuration cannot be loaded: it is closed');
  }
}
