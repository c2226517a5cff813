import type { Queries, Row } from '../store/database.ts';
import { serviceListKey } from './services.ts';
import type { Services } from './services.ts';

/** A resource whose documents hold host names for their account, such as edges. Its SQL comes from code alone. */
export interface HostnameHolder {
  /** True: it only keeps the names for its account, which may put something else there. */
  readonly reserves: boolean;
  /** With the columns `hostname` and `parent`, the name without its first label. */
  readonly table: string;
  /** Expressions over a row of the table. A join would let the planner of PostgreSQL begin at the wrong end. */
  readonly id: string;
  readonly accountId: string;
  /** Condition for rows that are in force, where not all are; `$1` is the time in milliseconds. */
  readonly inForce?: string;
}

/** Every resource that holds host names; none may take what another account holds in any of them. */
export const hostnameHolders = serviceListKey<HostnameHolder>('holders of host names');

interface NameUse {
  /** Another account holds the name or one that overlaps with it, as a wildcard does with names below it. */
  readonly isElsewhere: boolean;
  /** Ids of those in the account that serve exactly this name. */
  readonly users: readonly string[];
  /** Ids of those in other accounts that do. */
  readonly usersElsewhere: readonly string[];
}

/** Looks for a name in all holders, by one statement: whoever creates an edge waits for each of them. */
export async function findNameUse(
  services: Services,
  queries: Queries,
  accountId: string,
  hostname: string,
): Promise<NameUse> {
  const holders = services.all(hostnameHolders);
  const parent = parentOf(hostname);
  const rows = hostname.startsWith('*.')
    ? await queries.all(wildcardSql(holders), [Date.now(), hostname, parent, accountId])
    : await queries.all(nameSql(holders), [Date.now(), hostname, `*.${parent}`]);
  const users = rows.filter(([, name, , reserves]) => name === hostname && reserves === 0);
  const idsOf = (some: readonly Row[]) => some.map(([id]) => String(id));
  return {
    isElsewhere: rows.some(([, , holder]) => holder !== accountId),
    users: idsOf(users.filter(([, , holder]) => holder === accountId)),
    usersElsewhere: idsOf(users.filter(([, , holder]) => holder !== accountId)),
  };
}

/** The rows of a name and of the wildcard above it, whatever their accounts: at most one of each in a table. */
function nameSql(holders: readonly HostnameHolder[]): string {
  return holders.map((holder) => `${select(holder)} AND hostname IN ($2, $3)`).join(' UNION ALL ');
}

/** The rows of a wildcard, and one of another account below it, of which there may be thousands. */
function wildcardSql(holders: readonly HostnameHolder[]): string {
  return holders
    .flatMap((holder) => [
      `${select(holder)} AND hostname = $2`,
      `SELECT * FROM (${select(holder)} AND parent = $3 AND ${holder.accountId} <> $4 LIMIT 1) AS below`,
    ])
    .join(' UNION ALL ');
}

function select({ id, accountId, reserves, table, inForce = '1 = 1' }: HostnameHolder): string {
  return `SELECT ${id} AS id, hostname, ${accountId} AS account_id, ${reserves ? 1 : 0} AS reserves FROM ${table} WHERE ${inForce}`;
}

/** The name without its first label. */
export function parentOf(hostname: string): string {
  const dot = hostname.indexOf('.');
  return dot < 0 ? '' : hostname.slice(dot + 1);
}
