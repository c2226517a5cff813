import type { Queries } from '../store/database.ts';
import { serviceListKey } from './services.ts';
import type { Services } from './services.ts';

/** A resource whose documents hold host names for their account, such as edges. */
export interface HostnameHolder {
  /** True: it only keeps the names for its account, which may put something else there. */
  readonly reserves: boolean;
  /** Ids of those in the account that hold exactly this name. */
  holdersOf(queries: Queries, accountId: string, hostname: string): Promise<readonly string[]>;
  /** Whether another account holds the name or one that overlaps with it, as a wildcard does with names below it. */
  isHeldElsewhere(queries: Queries, accountId: string, hostname: string): Promise<boolean>;
}

/** Every resource that holds host names; none may take what another account holds in any of them. */
export const hostnameHolders = serviceListKey<HostnameHolder>('holders of host names');

export async function isHeldElsewhere(
  services: Services,
  queries: Queries,
  accountId: string,
  hostname: string,
): Promise<boolean> {
  for (const holder of services.all(hostnameHolders)) {
    if (await holder.isHeldElsewhere(queries, accountId, hostname)) return true;
  }
  return false;
}

/** Ids of those in the account that serve exactly this name. */
export async function usersOfHostname(
  services: Services,
  queries: Queries,
  accountId: string,
  hostname: string,
): Promise<readonly string[]> {
  const users: string[] = [];
  for (const holder of services.all(hostnameHolders)) {
    if (!holder.reserves) users.push(...(await holder.holdersOf(queries, accountId, hostname)));
  }
  return users;
}

interface HostnameTable {
  /** With the columns `hostname` and `parent`, the name without its first label. */
  readonly names: string;
  /** The column of the table that holds the id of its owner. */
  readonly owner: string;
  /** The table of the owners. */
  readonly documents: string;
  readonly reserves?: boolean;
}

/** Finds names in a table of them. Table names come from code alone. */
export function createHostnameHolder({ names, owner, documents, reserves = false }: HostnameTable): HostnameHolder {
  const from = `FROM ${names} h JOIN ${documents} d ON d.id = h.${owner}`;
  const own = `SELECT d.id ${from} WHERE d.account_id = $1 AND h.hostname = $2 ORDER BY d.id`;
  const elsewhere = `SELECT 1 ${from} WHERE d.account_id <> $1 AND`;
  return {
    reserves,
    async holdersOf(queries, accountId, hostname) {
      return (await queries.all(own, [accountId, hostname])).map(([id]) => String(id));
    },
    async isHeldElsewhere(queries, accountId, hostname) {
      const parent = parentOf(hostname);
      const rows = hostname.startsWith('*.')
        ? await queries.all(`${elsewhere} h.parent = $2 LIMIT 1`, [accountId, parent])
        : await queries.all(`${elsewhere} h.hostname IN ($2, $3) LIMIT 1`, [accountId, hostname, `*.${parent}`]);
      return rows.length > 0;
    },
  };
}

/** The name without its first label. */
export function parentOf(hostname: string): string {
  const dot = hostname.indexOf('.');
  return dot < 0 ? '' : hostname.slice(dot + 1);
}
