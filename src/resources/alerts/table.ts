import type { Migration } from '../../store/migrate.ts';
import { Table } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import { leaseSql } from '../lease.ts';
import { alertKinds } from './service.ts';
import type { AlertKind } from './service.ts';

/** A state that somebody wants to be told of, for as long as it lasts. Its end deletes it; the log of changes has both. */
export interface Alert extends Stored {
  /** Id of what it is about, or the name of a quota. */
  readonly about: string;
  /** One line for people. */
  readonly summary: string;
  readonly facts: Readonly<Record<string, unknown>>;
}

export const leaseTable = 'alert_lease';

export const migrations: readonly Migration[] = [
  {
    name: 'alerts 0001',
    sql: `
      CREATE TABLE alerts (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL REFERENCES accounts (id),
        document TEXT NOT NULL,
        kind TEXT NOT NULL,
        about TEXT NOT NULL,
        UNIQUE (account_id, kind, about)
      );
      CREATE INDEX alerts_by_account ON alerts (account_id, id);
      ${leaseSql(leaseTable)}
    `,
  },
];

/** The alerts of each kind, which have a table together. */
export const alertTables: ReadonlyMap<AlertKind, Table<Alert>> = new Map(
  alertKinds.map((kind) => [
    kind,
    new Table<Alert>({
      name: 'alerts',
      kind,
      prefix: 'al',
      columns: { kind: () => kind, about: ({ about }) => about },
    }),
  ]),
);
