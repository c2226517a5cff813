import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';

export interface Account extends Stored {
  readonly name: string;
}

export const roles = ['admin', 'member'] as const;
export type Role = (typeof roles)[number];

export interface User extends Stored {
  readonly name: string;
  readonly role: Role;
}

export interface BotUser extends Stored {
  readonly name: string;
  readonly active: boolean;
}

export const migrations: readonly Migration[] = [
  {
    name: '0001 accounts and principals',
    sql: `
      CREATE TABLE accounts (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL,
        document TEXT NOT NULL,
        name TEXT NOT NULL UNIQUE
      );
      CREATE TABLE principals (id TEXT PRIMARY KEY, account_id TEXT NOT NULL REFERENCES accounts (id));
      ${tableSql('users', 'name TEXT NOT NULL, UNIQUE (account_id, name), FOREIGN KEY (id) REFERENCES principals (id)')}
      ${tableSql('bot_users', 'name TEXT NOT NULL, UNIQUE (account_id, name), FOREIGN KEY (id) REFERENCES principals (id)')}
    `,
  },
];

/** An account belongs to itself. */
export const accounts = new Table<Account>({
  name: 'accounts',
  kind: 'account',
  prefix: 'ac',
  columns: { name: ({ name }) => name },
});

export const users = new Table<User>({
  name: 'users',
  kind: 'user',
  prefix: 'usr',
  columns: { name: ({ name }) => name },
});

export const botUsers = new Table<BotUser>({
  name: 'bot_users',
  kind: 'bot_user',
  prefix: 'bot',
  columns: { name: ({ name }) => name },
});
