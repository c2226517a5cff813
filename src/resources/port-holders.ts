import type { Queries } from '../store/database.ts';
import type { ResourceContext } from './resource.ts';
import { serviceListKey } from './services.ts';
import type { Services } from './services.ts';

/** One that has a port to itself. */
export interface PortOwner {
  readonly id: string;
  readonly accountId: string;
  /** True: it only keeps the port for its account, which may put something else there. */
  readonly reserves: boolean;
}

/** A resource whose documents hold ports for their account, such as TCP edges. */
export interface PortHolder {
  ownerOf(queries: Queries, port: number): Promise<PortOwner | undefined>;
  /** Every port that is held, in all accounts or in one. */
  heldPorts(queries: Queries, accountId?: string): Promise<readonly number[]>;
}

/** Every resource that holds ports; none may take what another account holds in any of them. */
export const portHolders = serviceListKey<PortHolder>('holders of ports');

/** Owners that hold the port, in all accounts. */
export async function ownersOfPort(services: Services, queries: Queries, port: number): Promise<readonly PortOwner[]> {
  const owners: PortOwner[] = [];
  for (const holder of services.all(portHolders)) {
    const owner = await holder.ownerOf(queries, port);
    if (owner !== undefined) owners.push(owner);
  }
  return owners;
}

/** Every port that somebody holds, in all accounts or in one. */
async function heldPortsOf(services: Services, queries: Queries, accountId?: string): Promise<ReadonlySet<number>> {
  const held = new Set<number>();
  for (const holder of services.all(portHolders))
    for (const port of await holder.heldPorts(queries, accountId)) held.add(port);
  return held;
}

/**
 * Keeps the last free ports for accounts that have few: one that has its share, by whatever it holds, takes none of the last
 * quarter, nor so many that another account could not have one. Returns the share of an account that may have no more.
 */
export async function findUsedShare(
  { services, settings }: Pick<ResourceContext, 'services' | 'settings'>,
  queries: Queries,
  accountId: string,
): Promise<number | undefined> {
  const { first, last } = settings.tcpPorts;
  const ports = last - first + 1;
  const [row] = await queries.all('SELECT count(*) FROM accounts');
  const accounts = Number(row?.[0]);
  if (accounts < 2) return undefined;
  const share = Math.max(1, Math.floor(ports / accounts));
  const heldInRange = async (owner?: string) =>
    [...(await heldPortsOf(services, queries, owner))].filter((port) => port >= first && port <= last).length;
  if ((await heldInRange(accountId)) < share) return undefined;
  const kept = Math.max(Math.ceil(ports / 4), accounts);
  return ports - (await heldInRange()) <= kept ? share : undefined;
}

/**
 * A port of the range that nobody holds and, where it can be tried, that is not in use by another program; or undefined.
 * Starts anywhere, so that a port just given back rests a while.
 */
export async function findFreePort(
  { services, settings }: Pick<ResourceContext, 'services' | 'settings'>,
  queries: Queries,
): Promise<number | undefined> {
  const { canListen, tcpPorts } = settings;
  const { first, last } = tcpPorts;
  const held = await heldPortsOf(services, queries);
  const count = last - first + 1;
  const start = Math.floor(Math.random() * count);
  for (let step = 0; step < count; step++) {
    const port = first + ((start + step) % count);
    if (held.has(port)) continue;
    if (canListen === undefined || (await canListen(port))) return port;
  }
  return undefined;
}

interface PortTable {
  /** With the column `port`. */
  readonly ports: string;
  /** The column of the table that holds the id of its owner. */
  readonly owner: string;
  /** The table of the owners. */
  readonly documents: string;
  readonly reserves?: boolean;
}

/** Finds ports in a table of them. Table names come from code alone. */
export function createPortHolder({ ports, owner, documents, reserves = false }: PortTable): PortHolder {
  const from = `FROM ${ports} p JOIN ${documents} d ON d.id = p.${owner}`;
  return {
    async ownerOf(queries, port) {
      const [row] = await queries.all(`SELECT d.id, d.account_id ${from} WHERE p.port = $1`, [port]);
      return row && { id: String(row[0]), accountId: String(row[1]), reserves };
    },
    async heldPorts(queries, accountId) {
      const rows =
        accountId === undefined
          ? await queries.all(`SELECT port FROM ${ports}`)
          : await queries.all(`SELECT p.port ${from} WHERE d.account_id = $1`, [accountId]);
      return rows.map(([port]) => Number(port));
    },
  };
}
