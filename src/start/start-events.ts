import type { Config } from '../config/config.ts';
import { EventSender } from '../events/sender.ts';
import { createSend } from '../events/targets.ts';
import type { Send } from '../events/targets.ts';
import { createUpstream } from '../gateway/upstream/create-upstream.ts';
import type { TakeMail } from '../events/targets/email.ts';
import { eventStorage } from '../resources/events/service.ts';
import type { ResourceContext } from '../resources/resource.ts';
import { createFetch } from '../sign-in/guarded-fetch.ts';
import type { SnapshotUpdate } from '../snapshot/contract.ts';
import type { Observers } from './observers.ts';
import { upstreamOptions } from './start-gateway.ts';

const mebibyte = 1024 * 1024;
const id = 'events';

/** The way to servers that accounts choose as destinations; it leads nowhere that a backend may not lead. */
export class EventRoads {
  readonly send: Send;
  readonly #upstream: ReturnType<typeof createUpstream>;
  /** Known once the database is open. */
  #takeMail: TakeMail = () => Promise.reject(new Error('the database is not open'));

  constructor(config: Config, { observer }: Pick<Observers, 'observer'>) {
    const { eventFiles: folder, eventFilesMaxSize, smtpUrl: url, smtpFrom: from, smtpHourly: hourly } = config;
    const options = upstreamOptions(config);
    this.#upstream = createUpstream({ options, observer });
    const { connect, resolve } = this.#upstream;
    this.send = createSend({
      fetchFor: createFetch(connect, id),
      syslog: {
        connect: (place, established) => connect({ ...place, id }, { allowHalfOpen: true }, established),
        resolve: (place, signal) => resolve({ ...place, id }, signal),
      },
      folder: folder === undefined ? undefined : { folder, mostBytes: eventFilesMaxSize * mebibyte },
      mailServer:
        url === undefined || from === undefined
          ? undefined
          : {
              url,
              from,
              authorities: options.upstreamAuthorities ?? [],
              hourly,
              take: (accountId, most) => this.#takeMail(accountId, most),
            },
    });
  }

  countMailWith(take: TakeMail): void {
    this.#takeMail = take;
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
    send: roads.send,
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
