import { CidrList } from '../../lib/ip/cidr-list.ts';
import type { CidrSetData, FlaggedCidr } from '../../lib/ip/cidr-list.ts';
import { emptyCidrSet } from '../../lib/ip/cidr-set.ts';
import { parseCidr } from '../../lib/ip/cidr.ts';
import type { Cidr } from '../../lib/ip/cidr.ts';
import type { Compiler, ChangeBatch } from '../../publisher/compiler.ts';
import type { PolicyEntry } from '../../snapshot/contract.ts';
import { readVersion } from '../../store/change-log.ts';
import type { Change } from '../../store/change-log.ts';
import type { Queries, Row } from '../../store/database.ts';
import { flagOf } from './cidr-rules.ts';
import type { IpPolicyRule } from './table.ts';

/** `Change.payload` of a replacement of all rules of a policy: every rule that it has afterwards. */
export type RulesPayload = readonly FlaggedCidr[];

/** Rules from which on a policy is kept in memory; a smaller one is read again as fast as it is patched. */
const keepFrom = 1_000;

/** The rules of a large policy at a version, kept so that a change of one does not require reading all of them. */
interface KeptPolicy {
  readonly version: number;
  readonly list: CidrList;
  readonly packed: CidrSetData;
}

/** A rule in the database is not what this program stores. */
class StoredRuleError extends Error {
  override readonly name = 'StoredRuleError';
}

type KeptPolicies = Map<string, KeptPolicy>;

/** A policy in the snapshot is its rules; it changes with each of them. */
export function createPolicyCompiler(): Compiler {
  const kept: KeptPolicies = new Map();
  return {
    kind: 'policy',
    affectedIds(change) {
      const id = policyOf(change);
      return id === undefined ? [] : [id];
    },
    async load(queries, ids, batch) {
      if (ids === undefined) return loadAll(queries, kept);
      const entries: PolicyEntry[] = [];
      for (const id of ids) {
        const patched = batch && tryPatch(kept.get(id), id, batch);
        const entry = patched === undefined ? await loadOne(queries, id, kept) : keep(kept, id, patched);
        if (entry !== undefined) entries.push(entry);
      }
      return entries;
    },
  };
}

function policyOf({ kind, id, before, after }: Change): string | undefined {
  if (kind === 'ip_policy') return id;
  return kind === 'ip_policy_rule' ? (readRule(after) ?? readRule(before))?.ip_policy_id : undefined;
}

/** Undefined also where a change names a rule that is none: reading the policy tells whether it is still there. */
function tryPatch(known: KeptPolicy | undefined, id: string, batch: ChangeBatch): KeptPolicy | undefined {
  try {
    return patch(known, id, batch);
  } catch (error) {
    if (error instanceof StoredRuleError) return undefined;
    throw error;
  }
}

/**
 * Applies a batch of changes to the kept policy; undefined where they are not enough to tell its rules. A batch may repeat
 * changes along with later ones: each rule then ends as the last of them leaves it. A batch that is older than the kept
 * policy would undo parts of it, and is ignored.
 */
function patch(known: KeptPolicy | undefined, id: string, { changes, version }: ChangeBatch): KeptPolicy | undefined {
  if (known !== undefined && known.version >= version) return known;
  const mine = changes.filter((change) => policyOf(change) === id);
  const last = mine.findLastIndex(({ kind, cascades }) => kind === 'ip_policy' && cascades);
  const list = last < 0 ? known?.list : listAfter(mine[last]);
  if (list === undefined) return undefined;
  const ofRules = mine.slice(last + 1).filter(({ kind }) => kind === 'ip_policy_rule');
  for (const { before, after } of ofRules) {
    const [old, now] = [readRule(before), readRule(after)];
    if (old !== undefined) list.delete(readCidr(old.cidr));
    if (now !== undefined) list.set(readCidr(now.cidr), flagOf(now.action));
  }
  const isSame = known?.list === list && ofRules.length === 0;
  return { version, list, packed: isSame ? known.packed : list.pack() };
}

function listAfter(change: Change | undefined): CidrList | undefined {
  // Only the replacement of all rules records a cascading change of a policy with a payload, and it is of this type.
  const rules = change?.payload as RulesPayload | undefined;
  return rules && new CidrList(rules);
}

async function loadOne(queries: Queries, id: string, kept: KeptPolicies): Promise<PolicyEntry | undefined> {
  kept.delete(id);
  const [found] = await queries.all('SELECT id FROM ip_policies WHERE id = $1', [id]);
  if (found === undefined) return undefined;
  const version = await readVersion(queries);
  const rows = await queries.all('SELECT cidr, action FROM ip_policy_rules WHERE ip_policy_id = $1', [id]);
  // Keep the rules only if no write happened during the read: they may be of two versions.
  const isWhole = (await readVersion(queries)) === version;
  return compileRules(id, () => {
    const list = readList(rows);
    const known = { version, list, packed: list.pack() };
    return isWhole ? keep(kept, id, known) : toEntry(id, known.packed);
  });
}

/** The entry of a policy with a rule that is none says so: all that depends on the policy is closed. */
function compileRules(id: string, compile: () => PolicyEntry): PolicyEntry {
  try {
    return compile();
  } catch (error) {
    if (!(error instanceof StoredRuleError)) throw error;
    return { ...toEntry(id, emptyCidrSet), fault: error.message };
  }
}

function keep(kept: KeptPolicies, id: string, known: KeptPolicy): PolicyEntry {
  if (known.list.count >= keepFrom) kept.set(id, known);
  else kept.delete(id);
  return toEntry(id, known.packed);
}

/** The queries must be of one state of the database. */
async function loadAll(queries: Queries, kept: KeptPolicies): Promise<readonly PolicyEntry[]> {
  kept.clear();
  const version = await readVersion(queries);
  const policies = await queries.all('SELECT id FROM ip_policies');
  const rules = await queries.all('SELECT cidr, action, ip_policy_id FROM ip_policy_rules');
  const byPolicy = Map.groupBy(rules, ([, , policyId]) => String(policyId));
  return policies.map(([value]) => {
    const id = String(value);
    return compileRules(id, () => {
      const list = readList(byPolicy.get(id) ?? []);
      return keep(kept, id, { version, list, packed: list.pack() });
    });
  });
}

function toEntry(id: string, rules: CidrSetData): PolicyEntry {
  return { kind: 'policy', id, rules };
}

/** Rows have the columns cidr and action. */
function readList(rows: readonly Row[]): CidrList {
  return new CidrList(flaggedCidrs(rows));
}

function* flaggedCidrs(rows: readonly Row[]): Generator<FlaggedCidr> {
  for (const [cidr, action] of rows) yield { cidr: readCidr(String(cidr)), flags: flagOf(action) };
}

function readCidr(text: string): Cidr {
  const parsed = parseCidr(text);
  // It was valid when it was stored: another form means that the database was changed by hand.
  if (!parsed.ok) throw new StoredRuleError(`the stored rule ${JSON.stringify(text)} is not a CIDR`);
  return parsed.cidr;
}

function readRule(document: string | null): IpPolicyRule | undefined {
  // Only `ipPolicyRules` writes documents of this kind.
  return document === null ? undefined : (JSON.parse(document) as IpPolicyRule);
}
