import type { Migration } from '../../store/migrate.ts';
import { Table, tableSql } from '../../store/table.ts';
import type { Stored } from '../../store/table.ts';
import type { Labels } from '../labels.ts';
import { parentOf } from '../hostname-holders.ts';

/** An agent that is connected. It belongs to the process that holds its connection, and goes with it. */
export interface TunnelSession extends Stored {
  readonly process_id: string;
  /** Stays the same when the agent reconnects; never shown. */
  readonly client_id: string;
  readonly credential_id: string;
  readonly agent_version: string;
  readonly ip: string;
  readonly metadata: string;
  readonly os: string;
}

export type ClaimKind = 'http' | 'tls' | 'tcp' | 'labels';

/**
 * A name, port or set of labels that tunnels have. It outlives them for a while, so that an agent which was disconnected
 * finds it again.
 */
export interface TunnelClaim extends Stored {
  readonly kind: ClaimKind;
  /** Unique: the name, the port, or the client with its labels. */
  readonly key: string;
  readonly client_id: string;
  readonly url: string;
  /** True if visitors may come without TLS. */
  readonly plain?: boolean;
  readonly hostname: string | null;
  readonly port: number | null;
  readonly labels: Labels | null;
  /** The URL at which endpoints of the account forward to it, where no listener reaches it. */
  readonly internal?: string;
  /** Settings by module name, as an edge has them. */
  readonly modules: Readonly<Record<string, unknown>>;
  /** Version of the PROXY protocol whose header each connection starts with; 0 for none. */
  readonly proxy_proto: 0 | 1 | 2;
  /** TLS ends at the gateway: with this pair, whose key is sealed for `key`, or with a certificate of the gateway's own. */
  readonly tls_termination?: { readonly certificate_pem: string; readonly sealed_key: string } | 'own' | null;
  /** Null while it has tunnels; else milliseconds since 1970, after which it is anybody's. */
  readonly held_until_ms: number | null;
}

export interface Tunnel extends Stored {
  readonly session_id: string;
  readonly claim_id: string;
  readonly process_id: string;
  readonly client_id: string;
  readonly proto: 'http' | 'https' | 'tcp' | 'tls' | '';
  readonly url: string;
  readonly labels: Labels | null;
  readonly forwards_to: string;
  readonly forwards_proto: string;
  readonly metadata: string;
  readonly name: string;
  readonly description: string;
  readonly pooling_enabled: boolean;
  /** The text, as the agent gave it. Agents that share an endpoint may have different ones. */
  readonly traffic_policy?: string;
}

export const migrations: readonly Migration[] = [
  {
    name: 'tunnels 0001',
    sql: `
      ${tableSql('tunnel_sessions', 'process_id TEXT NOT NULL, client_id TEXT NOT NULL, credential_id TEXT NOT NULL')}
      CREATE INDEX tunnel_sessions_by_process ON tunnel_sessions (process_id);
      CREATE INDEX tunnel_sessions_by_client ON tunnel_sessions (client_id);
      CREATE INDEX tunnel_sessions_by_credential ON tunnel_sessions (credential_id);
      ${tableSql(
        'tunnel_claims',
        `claim_key TEXT NOT NULL UNIQUE,
         hostname TEXT UNIQUE,
         parent TEXT,
         port INTEGER UNIQUE,
         held_until_ms INTEGER`,
      )}
      CREATE INDEX tunnel_claims_by_parent ON tunnel_claims (parent);
      CREATE INDEX tunnel_claims_by_end ON tunnel_claims (held_until_ms);
      ${tableSql(
        'tunnels',
        `session_id TEXT NOT NULL REFERENCES tunnel_sessions (id),
         claim_id TEXT NOT NULL REFERENCES tunnel_claims (id)`,
      )}
      CREATE INDEX tunnels_by_session ON tunnels (session_id);
      CREATE INDEX tunnels_by_claim ON tunnels (claim_id);
      CREATE TABLE agent_commands (
        id TEXT PRIMARY KEY,
        session_id TEXT NOT NULL,
        command TEXT NOT NULL,
        answer TEXT
      );
    `,
  },
];

export const tunnelSessions = new Table<TunnelSession>({
  name: 'tunnel_sessions',
  kind: 'tunnel_session',
  prefix: 'ts',
  columns: {
    process_id: ({ process_id }) => process_id,
    client_id: ({ client_id }) => client_id,
    credential_id: ({ credential_id }) => credential_id,
  },
});

export const tunnelClaims = new Table<TunnelClaim>({
  name: 'tunnel_claims',
  kind: 'tunnel_claim',
  prefix: 'ep',
  columns: {
    claim_key: ({ key }) => key,
    hostname: ({ hostname }) => hostname,
    parent: ({ hostname }) => (hostname === null ? null : parentOf(hostname)),
    port: ({ port }) => port,
    held_until_ms: ({ held_until_ms }) => held_until_ms,
  },
});

export const tunnels = new Table<Tunnel>({
  name: 'tunnels',
  kind: 'tunnel',
  prefix: 'tn',
  mayBeLong: true,
  columns: { session_id: ({ session_id }) => session_id, claim_id: ({ claim_id }) => claim_id },
});
