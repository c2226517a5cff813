import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';

/** Somebody who has signed in at an edge of the account. */
export interface AppUser extends Stored {
  readonly provider: { readonly name: string; readonly url: string };
  readonly subject: string;
  readonly email: string;
  readonly name: string;
  readonly last_active: string;
  readonly last_login: string;
}

/** A session of such a user. */
export interface AppSession extends Stored {
  readonly user_id: string;
  readonly edge_id: string;
  readonly route_id: string;
  readonly host: string;
  readonly source: string;
  readonly user_agent: string;
  readonly groups: readonly string[];
  /** Those of the user, so that sessions can be found by them. */
  readonly email: string;
  readonly name: string;
  readonly provider: AppUser['provider'];
  readonly last_active: string;
  /** If it is not used before. */
  readonly expires_at: string;
  /** However much it is used, in milliseconds. */
  readonly ends_at_ms: number;
}

export const migrations: readonly Migration[] = [
  {
    name: 'visitors 0001',
    sql: `
      CREATE TABLE visitor_keys (
        number INTEGER PRIMARY KEY,
        created_at_ms BIGINT NOT NULL,
        secret TEXT NOT NULL,
        private_jwk TEXT NOT NULL
      );
      ${tableSql('app_users', 'provider_url TEXT NOT NULL, subject TEXT NOT NULL, UNIQUE (account_id, provider_url, subject)')}
      ${tableSql('app_sessions', 'user_id TEXT NOT NULL REFERENCES app_users (id), expires_at_ms BIGINT NOT NULL')}
      CREATE INDEX app_sessions_by_user ON app_sessions (user_id);
      CREATE INDEX app_sessions_by_end ON app_sessions (expires_at_ms);
      CREATE TABLE ended_app_sessions (id TEXT PRIMARY KEY, account_id TEXT NOT NULL, ends_at_ms BIGINT NOT NULL);
      CREATE INDEX ended_app_sessions_by_end ON ended_app_sessions (ends_at_ms);
    `,
  },
];

export const appUsers = new Table<AppUser>({
  name: 'app_users',
  kind: 'app_user',
  prefix: 'au',
  columns: { provider_url: ({ provider }) => provider.url, subject: ({ subject }) => subject },
});

export const appSessions = new Table<AppSession>({
  name: 'app_sessions',
  kind: 'app_session',
  prefix: 'as',
  columns: { user_id: ({ user_id }) => user_id, expires_at_ms: ({ expires_at }) => Date.parse(expires_at) },
});

/** Kind under which gateways hear of a session that has ended. */
export const endedKind = 'ended_app_session';
/** Kind under which gateways hear of a new key. */
export const keyKind = 'visitor_key';
