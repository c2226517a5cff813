import type { Config } from '../config/config.ts';
import { EventSender } from '../events/sender.ts';
import { createSend } from '../events/targets.ts';
import { createUpstream } from '../gateway/upstream/create-upstream.ts';
import { eventStorage } from '../resources/events/service.ts';
import type { ResourceContext } from '../resources/resource.ts';
import { createFetch } from '../sign-in/guarded-fetch.ts';
import type { Fetch } from '../sign-in/guarded-fetch.ts';
import type { SnapshotUpdate } from '../snapshot/contract.ts';
import type { Observers } from './observers.ts';
import { upstreamOptions } from './start-gateway.ts';

/** The way to servers that accounts choose as destinations; it leads nowhere that a backend may not lead. */
export class EventRoads {
  readonly fetchFor: (accountId: string) => Fetch;
  readonly #upstream: ReturnType<typeof createUpstream>;

  constructor(config: Config, { observer }: Pick<Observers, 'observer'>) {
    this.#upstream = createUpstream({ options: upstreamOptions(config), observer });
    this.fetchFor = createFetch(this.#upstream.connect, 'events');
  }

  /** Learns of listeners of the installation. */
  follow(update: SnapshotUpdate): void {
    this.#upstream.listeners.prepare(update)();
  }
}

/** Starts to send events, once somebody subscribes to some. */
export function startEvents(
  { store, services }: ResourceContext,
  roads: EventRoads,
  { log }: Pick<Observers, 'log'>,
): AsyncDisposable {
  const sender = new EventSender({
    storage: services.get(eventStorage),
    send: createSend(roads.fetchFor),
    log,
  });
  store.follow({
    changed: (changes) => {
      sender.changed(changes);
    },
    reset: () => {
      sender.reset();
    },
  });
  sender.start();
  return sender;
}
