import type { TextFields } from '../../api/body/text-fields.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { leaseSql } from '../lease.ts';
import { createReferable, referencesSql } from '../references.ts';

/** Where events are sent, without secrets. Exactly one of them is there. */
export interface StoredTarget {
  readonly webhook?: { readonly url: string };
  readonly syslog?: { readonly host: string; readonly port: number; readonly protocol: 'tls' | 'tcp' | 'udp' };
  readonly file?: { readonly name: string };
  readonly otlp?: { readonly url: string; readonly header_names: readonly string[] };
  readonly email?: { readonly to: readonly string[] };
}

export interface EventDestination extends Stored, TextFields {
  readonly target: StoredTarget;
  /** Counts secrets, so that each new one is a change, although no document has it. */
  readonly secret_version: number;
}

export interface EventSubscription extends Stored, TextFields {
  /** Types of events. */
  readonly sources: readonly string[];
  /** Versions behind which types count that were added later; for events of traffic, numbers of decisions. */
  readonly since?: Readonly<Record<string, number>>;
  readonly destination_ids: readonly string[];
}

export const leaseTable = 'event_lease';

/** The place of a delivery is that of the last change that was sent. Times of retries are RFC 3339. */
const deliveriesSql = `
  CREATE TABLE event_deliveries (
    subscription_id TEXT NOT NULL REFERENCES event_subscriptions (id),
    destination_id TEXT NOT NULL REFERENCES event_destinations (id),
    account_id TEXT NOT NULL REFERENCES accounts (id),
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    failing_since TEXT,
    retries_at TEXT,
    error TEXT,
    sent_at TEXT,
    lost INTEGER NOT NULL,
    PRIMARY KEY (destination_id, subscription_id)
  );
  CREATE INDEX event_deliveries_by_account ON event_deliveries (account_id, destination_id);
  CREATE INDEX event_deliveries_by_subscription ON event_deliveries (subscription_id);
  CREATE TABLE undelivered_events (
    destination_id TEXT NOT NULL,
    subscription_id TEXT NOT NULL,
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    given_up_at TEXT NOT NULL,
    error TEXT NOT NULL,
    again INTEGER NOT NULL,
    PRIMARY KEY (destination_id, subscription_id, version, position)
  );
`;

/** A delivery has a place in each source of events: `''` is the log of changes, others are gateways that keep decisions. */
const sourcesSql = `
  CREATE TABLE new_deliveries (
    subscription_id TEXT NOT NULL REFERENCES event_subscriptions (id),
    destination_id TEXT NOT NULL REFERENCES event_destinations (id),
    account_id TEXT NOT NULL REFERENCES accounts (id),
    source TEXT NOT NULL DEFAULT '',
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    failures INTEGER NOT NULL,
    failing_since TEXT,
    retries_at TEXT,
    error TEXT,
    sent_at TEXT,
    lost INTEGER NOT NULL,
    PRIMARY KEY (destination_id, subscription_id, source)
  );
  INSERT INTO new_deliveries (subscription_id, destination_id, account_id, version, position, failures, failing_since,
    retries_at, error, sent_at, lost)
  SELECT subscription_id, destination_id, account_id, version, position, failures, failing_since, retries_at, error, sent_at, lost
  FROM event_deliveries;
  DROP TABLE event_deliveries;
  ALTER TABLE new_deliveries RENAME TO event_deliveries;
  CREATE INDEX event_deliveries_by_account ON event_deliveries (account_id, destination_id);
  CREATE INDEX event_deliveries_by_subscription ON event_deliveries (subscription_id);
  CREATE TABLE new_undelivered (
    destination_id TEXT NOT NULL,
    subscription_id TEXT NOT NULL,
    source TEXT NOT NULL DEFAULT '',
    version INTEGER NOT NULL,
    position INTEGER NOT NULL,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    given_up_at TEXT NOT NULL,
    error TEXT NOT NULL,
    again INTEGER NOT NULL,
    PRIMARY KEY (destination_id, subscription_id, source, version, position)
  );
  INSERT INTO new_undelivered (destination_id, subscription_id, version, position, account_id, given_up_at, error, again)
  SELECT destination_id, subscription_id, version, position, account_id, given_up_at, error, again FROM undelivered_events;
  DROP TABLE undelivered_events;
  ALTER TABLE new_undelivered RENAME TO undelivered_events;
  CREATE TABLE sent_mails (
    id TEXT PRIMARY KEY,
    account_id TEXT NOT NULL REFERENCES accounts (id),
    sent_at_ms INTEGER NOT NULL
  );
  CREATE INDEX sent_mails_by_account ON sent_mails (account_id, sent_at_ms);
`;

export const migrations: readonly Migration[] = [
  {
    name: 'events 0001',
    sql: `
      ${tableSql('event_destinations', 'sealed_secrets TEXT NOT NULL')}
      ${referencesSql('event_destinations')}
      ${tableSql('event_subscriptions')}
      ${deliveriesSql}
      ${leaseSql(leaseTable)}
    `,
  },
  { name: 'events 0002 sources', sql: sourcesSql },
];

export const eventDestinations = new Table<EventDestination>({
  name: 'event_destinations',
  kind: 'event_destination',
  prefix: 'ed',
  otherColumns: ['sealed_secrets'],
});

export const eventSubscriptions = new Table<EventSubscription>({
  name: 'event_subscriptions',
  kind: 'event_subscription',
  prefix: 'esb',
});

export const destinationsPath = '/event_destinations';
export const subscriptionsPath = '/event_subscriptions';

export const referable = createReferable({
  kind: 'event_destination',
  path: destinationsPath,
  table: 'event_destinations',
  documents: eventDestinations,
});
