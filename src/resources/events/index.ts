import { plainPrefix } from '../../lib/sealed-secret.ts';
import { watchedAlerts } from '../alerts/service.ts';
import type { Resource } from '../resource.ts';
import { sealPlainRows, storedSecrets } from '../stored-secrets.ts';
import { DestinationCreate, destinationOperations, DestinationUpdate, DestinationView } from './destinations.ts';
import * as errors from './errors.ts';
import { resendOperation, Resent } from './resend.ts';
import { takeMailIn } from './mail-shares.ts';
import { eventStorage, takeMail, toldOf } from './service.ts';
import { EventSources, EventSourceUpdate, sourceOperations } from './sources.ts';
import { createEventStorage } from './storage.ts';
import {
  EventSource,
  EventSourceCreate,
  SubscriptionCreate,
  subscriptionOperations,
  SubscriptionUpdate,
  SubscriptionView,
} from './subscriptions.ts';
import { eventSubscriptions, migrations, referable } from './table.ts';
import { readWatched } from './watched-alerts.ts';
import { tryOperation, Tried } from './try-destination.ts';

const oldestPlain =
  'SELECT id, sealed_secrets FROM event_destinations WHERE sealed_secrets LIKE $1 ORDER BY id LIMIT 1';
const oldestEncrypted = oldestPlain.replace('LIKE', 'NOT LIKE');

/** Where what happens is told, and what is told there. */
export const eventsResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [
    DestinationView,
    DestinationCreate,
    DestinationUpdate,
    SubscriptionView,
    SubscriptionCreate,
    SubscriptionUpdate,
    EventSource,
    EventSourceCreate,
    EventSourceUpdate,
    EventSources,
    Resent,
    Tried,
  ],
  operations: (context) => [
    ...destinationOperations(context),
    resendOperation(context),
    tryOperation(context),
    ...subscriptionOperations(context),
    ...sourceOperations(context),
  ],
  referables: [referable],
  provide(context) {
    const { services, store } = context;
    services.provide(eventStorage, createEventStorage(context));
    services.provide(takeMail, takeMailIn(store));
    services.provide(toldOf, async (accountId, type) => {
      const sql = 'SELECT document FROM event_subscriptions WHERE account_id = $1 AND document LIKE $2';
      const rows = await store.queries.all(sql, [accountId, `%"${type}"%`]);
      return rows.some((row) => eventSubscriptions.parse(row).sources.includes(type));
    });
    services.provide(watchedAlerts, { read: () => readWatched(store.queries) });
    services.add(storedSecrets, {
      async oldest(form) {
        const [row] = await store.queries.all(form === 'plain' ? oldestPlain : oldestEncrypted, [`${plainPrefix}%`]);
        const id = String(row?.[0]);
        return row && { owner: `the event destination ${id}`, sealed: String(row[1]), context: id };
      },
      sealPlain: () =>
        sealPlainRows(context, {
          table: 'event_destinations',
          id: 'id',
          column: 'sealed_secrets',
          contextOf: (id) => id,
        }),
    });
  },
};
