import { UserError } from '../../errors/user-error.ts';
import { boundedSql, readBounded } from '../../store/bounded-rows.ts';
import type { Queries } from '../../store/database.ts';
import type { ObservationWriter } from '../../store/write/transaction.ts';
import type { Stored, Table } from '../../store/table.ts';
import type { Labels } from '../labels.ts';
import type { Services } from '../services.ts';
import { membersKind, tunnelGroups } from '../tunnel-group-backends/service.ts';
import { tooManySessions } from './errors.ts';
import type { AgentHostOptions } from './service.ts';
import { tunnelClaims, tunnels, tunnelSessions } from './table.ts';
import type { Tunnel, TunnelClaim, TunnelSession } from './table.ts';

type SessionLimit = Pick<AgentHostOptions, 'sessionsPerCredential' | 'sessionsReached'>;

/** Writes sessions, tunnels and claims. Every change is recorded, so that all processes follow it. */
export class TunnelRows {
  readonly #services: Services;
  /** Milliseconds for which a claim without tunnels is kept. */
  readonly #holdMs: number;

  constructor(services: Services, holdMs: number) {
    this.#services = services;
    this.#holdMs = holdMs;
  }

  /**
   * The session takes the place of all others of the same agent, whichever process holds them. Writers take turns, so that
   * the count holds over all processes.
   */
  async addSession(writer: ObservationWriter, session: TunnelSession, limit: SessionLimit): Promise<void> {
    await checkSessions(writer, limit, session.credential_id, session.client_id);
    const sql = 'SELECT document FROM tunnel_sessions WHERE client_id = $1';
    for (const row of await writer.all(sql, [session.client_id])) {
      await this.removeSession(writer, tunnelSessions.parse(row).id);
    }
    await insert(writer, tunnelSessions, session);
  }

  /** Does nothing for one that is gone. */
  async removeSession(writer: ObservationWriter, id: string): Promise<void> {
    const session = await tunnelSessions.load(writer, id);
    if (session === undefined) return;
    await this.removeTunnelsOf(writer, id);
    await writer.run('DELETE FROM tunnel_sessions WHERE id = $1', [id]);
    record(writer, tunnelSessions, session);
  }

  /** Claims of the tunnels stay with the account for a while. */
  async removeTunnelsOf(writer: ObservationWriter, sessionId: string): Promise<void> {
    for (const row of await writer.all('SELECT document FROM tunnels WHERE session_id = $1', [sessionId])) {
      await this.removeTunnel(writer, tunnels.parse(row), 'held');
    }
  }

  async removeSessionsOf(writer: ObservationWriter, processId: string): Promise<void> {
    const rows = await writer.all('SELECT id FROM tunnel_sessions WHERE process_id = $1', [processId]);
    for (const [id] of rows) await this.removeSession(writer, String(id));
  }

  async addTunnel(writer: ObservationWriter, claim: TunnelClaim, tunnel: Tunnel): Promise<void> {
    await insert(writer, tunnels, tunnel);
    await this.#recordClaim(writer, claim);
  }

  async replaceTunnel(writer: ObservationWriter, tunnel: Tunnel): Promise<void> {
    await writer.run('UPDATE tunnels SET document = $2 WHERE id = $1', [tunnel.id, JSON.stringify(tunnel)]);
    record(writer, tunnels, tunnel);
    const claim = await tunnelClaims.load(writer, tunnel.claim_id);
    if (claim !== undefined) await this.#recordClaim(writer, claim);
  }

  /** `held`: its claim stays with the account for a while. `given_up`: the agent wants it no more. */
  async removeTunnel(writer: ObservationWriter, tunnel: Tunnel, claimIs: 'held' | 'given_up'): Promise<void> {
    await writer.run('DELETE FROM tunnels WHERE id = $1', [tunnel.id]);
    record(writer, tunnels, tunnel);
    const claim = await tunnelClaims.load(writer, tunnel.claim_id);
    if (claim === undefined) return;
    const isUsed = (await membersOf(writer, claim.id)).length > 0;
    if (isUsed) await this.#recordClaim(writer, claim);
    else if (claimIs === 'given_up' || this.#holdMs === 0) await this.removeClaim(writer, claim);
    else await this.replaceClaim(writer, { ...claim, held_until_ms: Date.now() + this.#holdMs });
  }

  async addClaim(writer: ObservationWriter, claim: TunnelClaim): Promise<void> {
    await insert(writer, tunnelClaims, claim);
  }

  async replaceClaim(writer: ObservationWriter, claim: TunnelClaim): Promise<void> {
    const sql = 'UPDATE tunnel_claims SET document = $2, held_until_ms = $3 WHERE id = $1';
    await writer.run(sql, [claim.id, JSON.stringify(claim), claim.held_until_ms]);
    await this.#recordClaim(writer, claim);
  }

  async removeClaim(writer: ObservationWriter, claim: TunnelClaim): Promise<void> {
    await writer.run('DELETE FROM tunnel_claims WHERE id = $1', [claim.id]);
    await this.#recordClaim(writer, claim);
  }

  /** Gives back what was held long enough. */
  async sweep(writer: ObservationWriter): Promise<void> {
    const sql = 'SELECT document FROM tunnel_claims WHERE held_until_ms <= $1';
    for (const row of await writer.all(sql, [Date.now()])) await this.removeClaim(writer, tunnelClaims.parse(row));
  }

  /** Edges that name a group of labels change with its tunnels. */
  async #recordClaim(writer: ObservationWriter, claim: TunnelClaim): Promise<void> {
    record(writer, tunnelClaims, claim);
    if (claim.labels === null) return;
    const groups = this.#services.get(tunnelGroups);
    for (const { id } of await groups.matching(writer, claim.account_id, claim.labels)) {
      writer.record({ accountId: claim.account_id, kind: membersKind, id });
    }
  }
}

/** Throws if the credential has as many sessions as it may. The one that this agent itself had does not count: it is replaced. */
export async function checkSessions(
  queries: Queries,
  { sessionsPerCredential: limit, sessionsReached }: SessionLimit,
  credentialId: string,
  clientId: string,
): Promise<void> {
  const sql = 'SELECT COUNT(*) FROM tunnel_sessions WHERE credential_id = $1 AND client_id <> $2';
  const [row] = await queries.all(sql, [credentialId, clientId]);
  if (Number(row?.[0]) < limit) return;
  sessionsReached(credentialId);
  throw new UserError(tooManySessions, { credential: credentialId, limit });
}

/** Members that are read at once, if their policies are short. */
const membersAtOnce = 512;
const ofClaim = boundedSql({
  table: 'tunnels',
  columns: ['document', 'id'],
  long: ['document'],
  key: ['id'],
  order: 'ASC',
  where: 'claim_id = $1 AND id > $2',
  limit: membersAtOnce,
});

export async function membersOf(queries: Queries, claimId: string): Promise<readonly Tunnel[]> {
  const members: Tunnel[] = [];
  await readBounded(
    queries,
    { atOnce: membersAtOnce, statement: (last) => [ofClaim, [claimId, last?.[1] ?? '']] },
    (row) => members.push(tunnels.parse(row)),
  );
  return members;
}

/** Tunnels of labels alone, in the account. */
export async function labelledTunnels(queries: Queries, accountId: string): Promise<readonly Tunnel[]> {
  const sql = `
    SELECT t.document FROM tunnels t JOIN tunnel_claims c ON c.id = t.claim_id
    WHERE t.account_id = $1 AND c.hostname IS NULL AND c.port IS NULL ORDER BY t.id`;
  const found = (await queries.all(sql, [accountId])).map((row) => tunnels.parse(row));
  // Internal endpoints have neither a name nor a port of the installation.
  return found.filter(({ labels }) => labels !== null);
}

/** Labels of tunnels in the account that were disconnected, and are kept for their agents. */
export async function heldLabels(queries: Queries, accountId: string): Promise<readonly Labels[]> {
  const sql = `
    SELECT document FROM tunnel_claims
    WHERE account_id = $1 AND hostname IS NULL AND port IS NULL AND held_until_ms IS NOT NULL`;
  const claims = (await queries.all(sql, [accountId])).map((row) => tunnelClaims.parse(row));
  return claims.flatMap(({ labels }) => (labels === null ? [] : [labels]));
}

async function insert<Document extends Stored>(
  writer: ObservationWriter,
  table: Table<Document>,
  document: Document,
): Promise<void> {
  await table.insertMany(writer, [document]);
  record(writer, table, document);
}

function record<Document extends Stored>(
  writer: ObservationWriter,
  { kind }: Table<Document>,
  { id, account_id }: Document,
): void {
  writer.record({ accountId: account_id, kind, id });
}
