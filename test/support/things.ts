import type { Actor } from '../../src/store/write/change-log.ts';
import type { Migration } from '../../src/store/migrate.ts';
import { openStore } from '../../src/store/store.ts';
import type { Store } from '../../src/store/store.ts';
import { Table, tableSql } from '../../src/store/table.ts';
import type { Stored } from '../../src/store/table.ts';

/** A resource for tests of the store itself. */
export interface Thing extends Stored {
  readonly name: string;
  readonly count: number;
}

export const accountId = 'ac_test';
export const actor: Actor = { id: 'usr_test', accountId, operationId: 'op_test' };

export const thingMigrations: readonly Migration[] = [
  {
    name: '0001 things',
    sql: `
      CREATE TABLE accounts (id TEXT PRIMARY KEY);
      INSERT INTO accounts (id) VALUES ('${accountId}');
      ${tableSql('things', 'name TEXT NOT NULL UNIQUE')}
    `,
  },
];

export const things = new Table<Thing>({
  name: 'things',
  kind: 'thing',
  prefix: 'th',
  columns: { name: ({ name }) => name },
});

export function openThings(url: string): Promise<Store> {
  return openStore({ url, migrations: thingMigrations, onFeedFault: () => {} });
}

export function createThing(store: Store, name: string): Promise<Thing> {
  return store.write(actor, (transaction) => {
    return things.insert(transaction, { ...things.newDocument(accountId), name, count: 0 });
  });
}
