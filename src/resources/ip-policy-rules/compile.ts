import { packCidrs } from '../../lib/cidr-set.ts';
import { parseCidr } from '../../lib/cidr.ts';
import type { FlaggedCidr } from '../../lib/cidr-set.ts';
import type { Compiler } from '../../publisher/compiler.ts';
import { ruleFlag } from '../../snapshot/contract.ts';
import type { PolicyEntry } from '../../snapshot/contract.ts';
import type { Queries, Row } from '../../store/database.ts';

/** A policy in the snapshot is its rules; it changes with each of them. */
export const policyCompiler: Compiler = {
  kind: 'policy',
  touchedBy({ kind, id, before, after }) {
    if (kind === 'ip_policy') return [id];
    if (kind !== 'ip_policy_rule') return [];
    // Every stored rule names its policy.
    const { ip_policy_id } = JSON.parse(after ?? before ?? '{}') as { readonly ip_policy_id: string };
    return [ip_policy_id];
  },
  load: async (queries, ids) => (ids === undefined ? loadAll(queries) : loadSome(queries, ids)),
};

async function loadSome(queries: Queries, ids: readonly string[]): Promise<readonly PolicyEntry[]> {
  const entries: PolicyEntry[] = [];
  for (const id of ids) {
    const [policy] = await queries.all('SELECT id FROM ip_policies WHERE id = $1', [id]);
    if (policy === undefined) continue;
    const rules = await queries.all('SELECT cidr, action FROM ip_policy_rules WHERE ip_policy_id = $1', [id]);
    entries.push(toEntry(id, rules));
  }
  return entries;
}

async function loadAll(queries: Queries): Promise<readonly PolicyEntry[]> {
  const policies = await queries.all('SELECT id FROM ip_policies');
  const rules = await queries.all('SELECT cidr, action, ip_policy_id FROM ip_policy_rules');
  const byPolicy = Map.groupBy(rules, ([, , policyId]) => String(policyId));
  return policies.map(([id]) => toEntry(String(id), byPolicy.get(String(id)) ?? []));
}

/** Rows: cidr, action. */
function toEntry(id: string, rules: readonly Row[]): PolicyEntry {
  return { kind: 'policy', id, rules: packCidrs(rules.map(toFlagged)) };
}

function toFlagged([cidr, action]: Row): FlaggedCidr {
  const parsed = parseCidr(String(cidr));
  // Accepted before it was stored: another form means that the database was changed by hand.
  if (!parsed.ok) throw new Error(`the stored rule ${JSON.stringify(cidr)} is not a CIDR`);
  return { cidr: parsed.cidr, flags: action === 'deny' ? ruleFlag.deny : ruleFlag.allow };
}
