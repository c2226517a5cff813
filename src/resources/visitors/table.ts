import { personOf } from '../../modules/sign-in.ts';
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
  /** Address and name of the user, so that sessions can be found by them. */
  readonly email: string;
  readonly name: string;
  readonly provider: AppUser['provider'];
  readonly last_active: string;
  /** If it is not used before. */
  readonly expires_at: string;
  /** However much it is used, in milliseconds. */
  readonly ends_at_ms: number;
}

/** Moment at which sessions of older releases count as begun: nothing that is bounded by their beginning meets them. */
const begunBefore = Number.MAX_SAFE_INTEGER;

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
  {
    // The token that the provider is asked with, sealed, and when it was last asked.
    name: 'visitors 0002 logins',
    sql: `
      ALTER TABLE app_sessions ADD COLUMN login TEXT;
      ALTER TABLE app_sessions ADD COLUMN checked_at_ms BIGINT NOT NULL DEFAULT 0;
      ALTER TABLE app_sessions ADD COLUMN is_asking INTEGER NOT NULL DEFAULT 0;
    `,
  },
  {
    // Sessions of an account, an edge or a person (`id`) that were begun until then are over, without a row for each.
    name: 'visitors 0003 bounds',
    sql: `
      ALTER TABLE app_users ADD COLUMN person TEXT NOT NULL DEFAULT '';
      ALTER TABLE app_sessions ADD COLUMN begun_at BIGINT NOT NULL DEFAULT ${begunBefore};
      ALTER TABLE app_sessions ADD COLUMN edge_id TEXT NOT NULL DEFAULT '';
      ALTER TABLE ended_app_sessions ADD COLUMN begun_at BIGINT NOT NULL DEFAULT ${begunBefore};
      ALTER TABLE ended_app_sessions ADD COLUMN edge_id TEXT NOT NULL DEFAULT '';
      ALTER TABLE ended_app_sessions ADD COLUMN person TEXT NOT NULL DEFAULT '';
      CREATE TABLE app_session_marks (
        id TEXT PRIMARY KEY,
        account_id TEXT NOT NULL,
        begun_until BIGINT NOT NULL,
        ends_at_ms BIGINT NOT NULL
      );
      CREATE INDEX app_users_by_person ON app_users (person);
      CREATE INDEX app_sessions_by_begin ON app_sessions (account_id, begun_at);
      CREATE INDEX app_sessions_by_edge ON app_sessions (edge_id);
      CREATE INDEX ended_app_sessions_by_begin ON ended_app_sessions (account_id, begun_at);
      CREATE INDEX ended_app_sessions_by_edge ON ended_app_sessions (edge_id);
      CREATE INDEX ended_app_sessions_by_person ON ended_app_sessions (person);
      CREATE INDEX app_session_marks_by_end ON app_session_marks (ends_at_ms);
    `,
  },
];

export const appUsers = new Table<AppUser>({
  name: 'app_users',
  kind: 'app_user',
  prefix: 'au',
  columns: {
    provider_url: ({ provider }) => provider.url,
    subject: ({ subject }) => subject,
    person: ({ account_id, provider, subject }) => personOf(account_id, provider.url, subject),
  },
});

export const appSessions = new Table<AppSession>({
  name: 'app_sessions',
  kind: 'app_session',
  prefix: 'as',
  columns: {
    user_id: ({ user_id }) => user_id,
    expires_at_ms: ({ expires_at }) => Date.parse(expires_at),
    begun_at: ({ created_at }) => Date.parse(created_at) / 1000,
    edge_id: ({ edge_id }) => edge_id,
  },
});

/** Kind under which gateways hear of a session, or of sessions, that have ended. */
export const endedKind = 'ended_app_session';
/** Kind under which gateways hear of a new key. */
export const keyKind = 'visitor_key';
