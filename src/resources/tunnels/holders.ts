import { parentOf } from '../hostname-holders.ts';
import type { HostnameHolder } from '../hostname-holders.ts';
import type { PortHolder } from '../port-holders.ts';

/**
 * Longest time after its end that a claim may still be in force at a gateway, because none has swept it. Where no gateway
 * runs, nobody sweeps, and nothing is in force.
 */
const sweepMs = 30_000;
const counts = '(held_until_ms IS NULL OR held_until_ms > $1)';

function from(): number {
  return Date.now() - sweepMs;
}

/** Names of agents' endpoints, for edges and reserved domains. */
export const claimedNames: HostnameHolder = {
  reserves: false,
  async holdersOf(queries, accountId, hostname) {
    const sql = `SELECT id FROM tunnel_claims WHERE ${counts} AND account_id = $2 AND hostname = $3`;
    return (await queries.all(sql, [from(), accountId, hostname])).map(([id]) => String(id));
  },
  async isHeldElsewhere(queries, accountId, hostname) {
    const parent = parentOf(hostname);
    const sql = `SELECT 1 FROM tunnel_claims WHERE ${counts} AND account_id <> $2 AND`;
    const rows = hostname.startsWith('*.')
      ? await queries.all(`${sql} parent = $3 LIMIT 1`, [from(), accountId, parent])
      : await queries.all(`${sql} hostname IN ($3, $4) LIMIT 1`, [from(), accountId, hostname, `*.${parent}`]);
    return rows.length > 0;
  },
};

/** Ports of agents' endpoints. */
export const claimedPorts: PortHolder = {
  async ownerOf(queries, port) {
    const sql = `SELECT id, account_id FROM tunnel_claims WHERE ${counts} AND port = $2`;
    const [row] = await queries.all(sql, [from(), port]);
    return row && { id: String(row[0]), accountId: String(row[1]), reserves: false };
  },
  async heldPorts(queries) {
    const sql = `SELECT port FROM tunnel_claims WHERE ${counts} AND port IS NOT NULL`;
    return (await queries.all(sql, [from()])).map(([port]) => Number(port));
  },
};
