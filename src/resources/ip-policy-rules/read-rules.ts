import type { FlaggedCidr } from '../../lib/ip/cidr-list.ts';
import { parseCidr } from '../../lib/ip/cidr.ts';
import type { Cidr } from '../../lib/ip/cidr.ts';
import { Pace } from '../../lib/pace.ts';
import type { Queries, Row } from '../../store/database.ts';
import { flagOf } from './cidr-rules.ts';
import { ruleRows, rulesOfPolicy } from './table.ts';

/** Rules that are read by one statement, in a millisecond or two on SQLite. */
export const rulesAtOnce = 512;

/**
 * Reads all rules of a policy, in the order of their CIDRs, which start each row. It takes several statements and turns:
 * the queries must be of one state of the database, or the caller find out whether that has changed.
 */
export async function* readRules(queries: Queries, policyId: string, columns: string): AsyncGenerator<readonly Row[]> {
  const pace = new Pace();
  const sql = `SELECT cidr, ${columns} FROM ${rulesOfPolicy} AND cidr > $2 ORDER BY cidr LIMIT ${rulesAtOnce}`;
  let rows = await queries.all(sql, [policyId, '']);
  for (;;) {
    yield rows;
    const last = rows.at(-1)?.[0];
    if (last === undefined || rows.length < rulesAtOnce) return;
    if (pace.isDue) await pace.giveWay();
    rows = await queries.all(sql, [policyId, last]);
  }
}

/** Reads the rules of all sets likewise, also of those that are not in force. Rows have the columns set, cidr and action. */
export async function* readAllRules(queries: Queries): AsyncGenerator<readonly Row[]> {
  const pace = new Pace();
  const sql =
    `SELECT set_id, cidr, action FROM ${ruleRows} WHERE (set_id, cidr) > ($1, $2) ` +
    `ORDER BY set_id, cidr LIMIT ${rulesAtOnce}`;
  let rows = await queries.all(sql, [0, '']);
  for (;;) {
    yield rows;
    const [set, cidr] = rows.at(-1) ?? [];
    if (set === undefined || cidr === undefined || rows.length < rulesAtOnce) return;
    if (pace.isDue) await pace.giveWay();
    rows = await queries.all(sql, [set, cidr]);
  }
}

/** A rule in the database is not what this program stores. */
export class StoredRuleError extends Error {
  override readonly name = 'StoredRuleError';
}

export function flaggedCidr(cidr: unknown, action: unknown): FlaggedCidr {
  return { cidr: readCidr(String(cidr)), flags: flagOf(action) };
}

export function readCidr(text: string): Cidr {
  const parsed = parseCidr(text);
  // The rule was valid when it was stored: another form means that the database was changed by hand.
  if (!parsed.ok) throw new StoredRuleError(`the stored rule ${JSON.stringify(text)} is not a CIDR`);
  return parsed.cidr;
}
