import type { Queries } from '../store/database.ts';
import { serviceListKey } from './services.ts';
import type { Services } from './services.ts';

/** A resource whose documents hold host names for their account, such as edges. Its SQL comes from code alone. */
export interface HostnameHolder {
  /** True: it only keeps the names for its account, which may put something else there. */
  readonly reserves: boolean;
  /** With the columns `hostname`, `parent` (the name without its first label), `id` and `account_id`. */
  readonly tables: string;
  /** Condition for those that are in force, where not all are; `$1` is the time in milliseconds. */
  readonly inForce?: string;
}

/** Every resource that holds host names; none may take what another account holds in any of them. */
export const hostnameHolders = serviceListKey<HostnameHolder>('holders of host names');

interface NameUse {
  /** Another account holds the name or one that overlaps with it, as a wildcard does with names below it. */
  readonly isElsewhere: boolean;
  /** Ids of those in the account that serve exactly this name. */
  readonly users: readonly string[];
}

/** Looks for a name in all holders, by one statement: whoever creates an edge waits for each of them. */
export async function findNameUse(
  services: Services,
  queries: Queries,
  accountId: string,
  hostname: string,
): Promise<NameUse> {
  const holders = services.all(hostnameHolders);
  const isWildcard = hostname.startsWith('*.');
  const parent = parentOf(hostname);
  const overlaps = isWildcard ? 'parent = $4' : 'hostname IN ($3, $4)';
  const elsewhere = holders.map(
    (holder) => `SELECT * FROM (SELECT 1 AS kind, '' AS id ${from(holder)} account_id <> $2 AND ${overlaps} LIMIT 1) e`,
  );
  const own = holders
    .filter(({ reserves }) => !reserves)
    .map((holder) => `SELECT 2 AS kind, id ${from(holder)} account_id = $2 AND hostname = $3`);
  const rows = await queries.all([...elsewhere, ...own].join(' UNION ALL '), [
    Date.now(),
    accountId,
    hostname,
    isWildcard ? parent : `*.${parent}`,
  ]);
  return {
    isElsewhere: rows.some(([kind]) => kind === 1),
    users: rows.flatMap(([kind, id]) => (kind === 2 ? [String(id)] : [])),
  };
}

function from({ tables, inForce }: HostnameHolder): string {
  return `FROM ${tables} WHERE ${inForce === undefined ? '' : `${inForce} AND`}`;
}

/** The name without its first label. */
export function parentOf(hostname: string): string {
  const dot = hostname.indexOf('.');
  return dot < 0 ? '' : hostname.slice(dot + 1);
}
