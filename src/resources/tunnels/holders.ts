import type { HostnameHolder } from '../hostname-holders.ts';
import type { PortHolder } from '../port-holders.ts';

/**
 * Longest time after its end that a claim may still be in force at a gateway, because none has swept it. Where no gateway
 * runs, nobody sweeps, and nothing is in force.
 */
const sweepMs = 30_000;
const counts = `(held_until_ms IS NULL OR held_until_ms + ${sweepMs} > $1)`;

/** Names of agents' endpoints, for edges and reserved domains. */
export const claimedNames: HostnameHolder = {
  table: 'tunnel_claims',
  id: 'id',
  accountId: 'account_id',
  inForce: counts,
  reserves: false,
};

/** Ports of agents' endpoints. */
export const claimedPorts: PortHolder = {
  async ownerOf(queries, port) {
    const sql = `SELECT id, account_id FROM tunnel_claims WHERE ${counts} AND port = $2`;
    const [row] = await queries.all(sql, [Date.now(), port]);
    return row && { id: String(row[0]), accountId: String(row[1]), reserves: false };
  },
  async heldPorts(queries, accountId) {
    const sql = `SELECT port FROM tunnel_claims WHERE ${counts} AND port IS NOT NULL`;
    const rows =
      accountId === undefined
        ? await queries.all(sql, [Date.now()])
        : await queries.all(`${sql} AND account_id = $2`, [Date.now(), accountId]);
    return rows.map(([port]) => Number(port));
  },
};
