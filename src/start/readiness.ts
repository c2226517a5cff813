import type { ApiOptions } from '../api/options.ts';
import type { ResilientGateway } from '../gateway/resilient-gateway.ts';
import type { Publisher } from '../publisher/publisher.ts';
import type { Store } from '../store/store.ts';
import type { EntryFaults } from '../observe/entry-faults.ts';
import type { ListenerFaults } from '../observe/listener-faults.ts';

/** State of this process, for whoever sends it traffic. */
export type Readiness = Pick<ApiOptions, 'unready' | 'faultyEntries' | 'unopenedPorts' | 'isFull' | 'isStalled'>;

interface WatchedParts {
  readonly entryFaults: Pick<EntryFaults, 'count'>;
  readonly listenerFaults: Pick<ListenerFaults, 'list'>;
  readonly context: { readonly store: Store };
  readonly publisher: Publisher;
  readonly gateway: ResilientGateway | undefined;
}

export function watchReadiness(parts: WatchedParts, isStarted: () => boolean): Readiness {
  const { publisher, entryFaults, listenerFaults, gateway } = parts;
  const { store } = parts.context;
  return {
    unready() {
      if (!isStarted()) return 'it is starting';
      if (store.isRebuilding) return 'its database has another history than before, and not all of it is in force yet';
      if (store.fault !== undefined) return `its database cannot be used: ${store.fault}`;
      if (store.isStale) return 'its database has not answered lately';
      if (gateway?.engine?.workersState()?.loads.size === 0) return 'none of its workers is running: see its log';
      return publisher.lagging ? 'the newest change is not yet in force' : undefined;
    },
    faultyEntries: () => entryFaults.count,
    unopenedPorts: () => listenerFaults.list().map(({ port }) => port),
    isFull: () => store.isFull,
    isStalled: () => store.isStalled,
  };
}
