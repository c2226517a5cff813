import type { BackendHealth } from '../../observe/backend-health.ts';
import type { Store } from '../../store/store.ts';
import { serviceKey } from '../services.ts';
import { writeReports } from './health-table.ts';

/** What the gateway of this process sees of backends. */
export type SeenBackends = Pick<BackendHealth, 'read' | 'takeChanged' | 'putBack'>;

export const seenBackends = serviceKey<SeenBackends>('seen backends');

/** What all gateways together see of the addresses of a backend. */
export interface WatchedBackend {
  readonly id: string;
  readonly state: 'up' | 'in_part' | 'down' | 'unchecked';
  /** Addresses with a weight. */
  readonly addresses: number;
  /** Addresses that no gateway misses. */
  readonly answering: number;
  /** The first of the others. */
  readonly fault?: {
    readonly address: string;
    readonly since?: string | undefined;
    readonly cause?: string | undefined;
  };
}

export interface WatchedBackends {
  /** The newest backends of an account whose addresses somebody watches. */
  ofAccount(accountId: string): Promise<readonly WatchedBackend[]>;
}

export const watchedBackends = serviceKey<WatchedBackends>('watched backends');

const reportMs = 1000;

/** Tells other processes what this one sees, whenever that has changed; at most once a second. */
export function reportBackendHealth(store: Store, processId: string, seen: SeenBackends): AsyncDisposable {
  let writing: Promise<void> | undefined;
  const write = async (): Promise<void> => {
    const ids = seen.takeChanged();
    if (ids.length === 0) return;
    // Without the database they wait for it.
    await writeReports(
      store,
      processId,
      ids.map((id) => [id, seen.read(id)]),
    ).catch(() => {
      seen.putBack(ids);
    });
  };
  const timer = setInterval(() => {
    writing ??= write().finally(() => (writing = undefined));
  }, reportMs).unref();
  return {
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      await writing;
    },
  };
}
