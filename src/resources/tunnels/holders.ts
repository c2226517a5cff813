import type { HostnameHolder } from '../hostname-holders.ts';
import type { Queries } from '../../store/database.ts';
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

/** Counts the ports that endpoints of one account have. */
export async function countPortsOf(queries: Queries, accountId: string): Promise<number> {
  const sql = `SELECT count(*) FROM tunnel_claims WHERE ${counts} AND port IS NOT NULL AND account_id = $2`;
  const [row] = await queries.all(sql, [Date.now(), accountId]);
  return Number(row?.[0]);
}

/** Ports of agents' endpoints. */
export const claimedPorts: PortHolder = {
  async ownerOf(queries, port) {
    const sql = `SELECT id, account_id FROM tunnel_claims WHERE ${counts} AND port = $2`;
    const [row] = await queries.all(sql, [Date.now(), port]);
    return row && { id: String(row[0]), accountId: String(row[1]), reserves: false };
  },
  async heldPorts(queries) {
    const sql = `SELECT port FROM tunnel_claims WHERE ${counts} AND port IS NOT NULL`;
    return (await queries.all(sql, [Date.now()])).map(([port]) => Number(port));
  },
};
