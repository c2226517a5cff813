import type { Role } from '../../api/admission/roles.ts';
import { comparableEmail } from '../../lib/email-address.ts';
import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';

export interface Account extends Stored {
  readonly name: string;
}

/** Fields of a person, invited or here already. */
export interface Person extends Stored {
  readonly name: string;
  readonly email?: string;
  readonly role: Role;
}

export interface User extends Person {
  readonly active: boolean;
  /** Absent until the user has signed in with an identity provider. */
  readonly sign_in?: UserSignIn;
}

/** Who the user is at an identity provider. */
export interface UserSignIn {
  readonly issuer: string;
  readonly subject: string;
  /** The role comes from groups there, and follows them. */
  readonly role_by_group: boolean;
}

/** Deleted when it is accepted. */
export interface Invitation extends Person {
  readonly expires_at: string;
  /** The invitation ends when this user is no longer an active admin. */
  readonly invited_by: string;
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
  {
    name: 'principals 0001 invitations',
    sql: `
      ALTER TABLE users ADD COLUMN email TEXT;
      CREATE UNIQUE INDEX users_by_email ON users (account_id, email);
      UPDATE users SET document = substr(document, 1, length(document) - 1) || ',"active":true}';
      ${tableSql('invitations', 'name TEXT NOT NULL, email TEXT, secret_hash TEXT NOT NULL')}
    `,
  },
  {
    // A person at a provider is one user, whatever the account. When the user was last seen is an observation.
    name: 'principals 0002 identity provider',
    sql: `
      ALTER TABLE users ADD COLUMN login TEXT;
      ALTER TABLE users ADD COLUMN seen_at_ms INTEGER;
      CREATE UNIQUE INDEX users_by_login ON users (login);
      CREATE INDEX users_by_address ON users (email);
      CREATE INDEX invitations_by_address ON invitations (email);
    `,
  },
];

const personColumns = {
  name: ({ name }: Person) => name,
  /** By which two addresses are the same. */
  email: ({ email }: Person) => (email === undefined ? null : comparableEmail(email)),
};

/** By which a person at a provider is found. */
export function loginOf({ issuer, subject }: Pick<UserSignIn, 'issuer' | 'subject'>): string {
  return JSON.stringify([issuer, subject]);
}

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
  columns: { ...personColumns, login: ({ sign_in }) => (sign_in === undefined ? null : loginOf(sign_in)) },
});

/** A link has the body of the id and a secret, of which only the SHA-256 is kept. */
export const invitations = new Table<Invitation>({
  name: 'invitations',
  kind: 'invitation',
  prefix: 'inv',
  columns: personColumns,
  otherColumns: ['secret_hash'],
});

export const botUsers = new Table<BotUser>({
  name: 'bot_users',
  kind: 'bot_user',
  prefix: 'bot',
  columns: { name: ({ name }) => name },
});
