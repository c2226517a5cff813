import { CidrList } from '../../lib/ip/cidr-list.ts';
import type { CidrSetData, FlaggedCidr } from '../../lib/ip/cidr-list.ts';
import { emptyCidrSet } from '../../lib/ip/cidr-set.ts';
import { finishInTurns } from '../../lib/steps.ts';
import type { Compiler, ChangeBatch } from '../../publisher/compiler.ts';
import type { PolicyEntry } from '../../snapshot/contract.ts';
import { readVersion } from '../../store/write/change-log.ts';
import type { Change } from '../../store/write/change-log.ts';
import type { Queries, Row, Value } from '../../store/database.ts';
import type { Store } from '../../store/store.ts';
import { flagOf } from './cidr-rules.ts';
import { flaggedCidr, readAllRules, readCidr, readRules, StoredRuleError } from './read-rules.ts';
import { ruleRows } from './table.ts';
import type { IpPolicyRule } from './table.ts';

/**
 * The rules of a policy in the form of the matcher. `Change.payload` of a replacement of all rules of a policy has this
 * type, and belongs to the compiler from then on.
 */
export interface CompiledRules {
  readonly list: CidrList;
  readonly packed: CidrSetData;
}

/** Rules from which on a policy is kept in memory; a smaller one is read again as fast as it is patched. */
const keepFrom = 1_000;

/** A policy without rules has one row, of nulls; one that does not exist has none. */
const firstRules = `
  SELECT cidr, action FROM ip_policies p LEFT JOIN ${ruleRows} ON set_id = p.rule_set WHERE p.id = $1 LIMIT ${keepFrom}`;

/** The rules of a large policy at a version, kept so that a change of one does not require reading all of them. */
interface KeptPolicy extends CompiledRules {
  readonly version: number;
}

type KeptPolicies = Map<string, KeptPolicy>;
type Snapshots = Pick<Store, 'readSnapshot'>;

/** A policy in the snapshot is its rules; it changes with each of them. All work on a large one is done in slices. */
export function createPolicyCompiler(snapshots: Snapshots): Compiler {
  let kept: KeptPolicies = new Map();
  return {
    kind: 'policy',
    mayTakeLong: true,
    affectedIds(change) {
      const id = policyOf(change);
      return id === undefined ? [] : [id];
    },
    async load(queries, ids, batch) {
      if (ids === undefined) {
        // A load that is under way keeps what it finds in the former map: it may be of another history.
        kept = new Map();
        return loadAll(queries, kept);
      }
      const known = kept;
      const changes = Map.groupBy(batch?.changes ?? [], policyOf);
      const entries: PolicyEntry[] = [];
      for (const id of ids) {
        const patched = batch && (await tryPatch(known.get(id), changes.get(id) ?? [], batch));
        const entry =
          patched === undefined
            ? await orFault(id, () => loadOne(snapshots, queries, id, known))
            : keep(known, id, patched);
        if (entry !== undefined) entries.push(entry);
      }
      return entries;
    },
  };
}

export async function compileRules(rules: Iterable<FlaggedCidr>): Promise<CompiledRules> {
  const list = await finishInTurns(CidrList.of(rules));
  return { list, packed: await finishInTurns(list.pack()) };
}

/** The policy whose rules the change may have changed. */
export function policyOf({ kind, id, before, after }: Change): string | undefined {
  if (kind === 'ip_policy') return id;
  return kind === 'ip_policy_rule' ? (readRule(after) ?? readRule(before))?.ip_policy_id : undefined;
}

/** Undefined also where a change names a rule that is none: reading the policy tells whether it is still there. */
async function tryPatch(...given: Parameters<typeof patch>): ReturnType<typeof patch> {
  try {
    return await patch(...given);
  } catch (error) {
    if (error instanceof StoredRuleError) return undefined;
    throw error;
  }
}

/** The entry of a policy with a rule that is none says so: all that depends on the policy is closed. */
async function orFault<T>(id: string, compile: () => Promise<T>): Promise<T | PolicyEntry> {
  try {
    return await compile();
  } catch (error) {
    if (!(error instanceof StoredRuleError)) throw error;
    return { kind: 'policy', id, rules: emptyCidrSet, fault: error.message };
  }
}

/**
 * Applies changes of a policy, in a batch, to the kept policy; undefined where they are not enough to tell its rules. A
 * batch may repeat changes along with later ones: each rule then ends as the last of them leaves it. A batch that is older
 * than the kept policy would undo parts of it, and is ignored.
 */
async function patch(
  known: KeptPolicy | undefined,
  changes: readonly Change[],
  { version }: ChangeBatch,
): Promise<KeptPolicy | undefined> {
  if (known !== undefined && known.version >= version) return known;
  const last = changes.findLastIndex(({ kind, cascades }) => kind === 'ip_policy' && cascades);
  // Only the replacement of all rules records a cascading change of a policy with a payload, and it is of this type.
  const start = last < 0 ? known : (changes[last]?.payload as CompiledRules | undefined);
  if (start === undefined) return undefined;
  const { list, packed } = start;
  const ofRules = changes.slice(last + 1).filter(({ kind }) => kind === 'ip_policy_rule');
  for (const { before, after } of ofRules) {
    const [old, now] = [readRule(before), readRule(after)];
    if (old !== undefined) list.delete(readCidr(old.cidr));
    if (now !== undefined) list.set(readCidr(now.cidr), flagOf(now.action));
  }
  return { version, list, packed: ofRules.length === 0 ? packed : await finishInTurns(list.pack()) };
}

async function loadOne(
  snapshots: Snapshots,
  queries: Queries,
  id: string,
  kept: KeptPolicies,
): Promise<PolicyEntry | undefined> {
  kept.delete(id);
  const rows = await queries.all(firstRules, [id]);
  if (rows.length === 0) return undefined;
  // Rules that are kept must be of one version.
  if (rows.length === keepFrom) return keep(kept, id, await snapshots.readSnapshot((one) => loadLarge(one, id)));
  const rules = rows.filter(([cidr]) => cidr !== null);
  return toEntry(id, await compileRules(rules.map(([cidr, action]) => flaggedCidr(cidr, action))));
}

/** The rules of a policy, all by these queries, which must be of one state of the database; undefined: there is none. */
export async function loadPolicy(queries: Queries, id: string): Promise<PolicyEntry | undefined> {
  const rows = await queries.all(firstRules, [id]);
  if (rows.length === 0) return undefined;
  return orFault(id, async () => toEntry(id, await loadLarge(queries, id)));
}

/** The queries must be of one state of the database. */
async function loadLarge(queries: Queries, id: string): Promise<KeptPolicy> {
  const version = await readVersion(queries);
  const rules: FlaggedCidr[] = [];
  for await (const rows of readRules(queries, id, 'action'))
    for (const [cidr, action] of rows) rules.push(flaggedCidr(cidr, action));
  return { ...(await compileRules(rules)), version };
}

function keep(kept: KeptPolicies, id: string, known: KeptPolicy): PolicyEntry {
  if (known.list.count >= keepFrom) kept.set(id, known);
  else kept.delete(id);
  return toEntry(id, known);
}

/** The queries must be of one state of the database. */
async function loadAll(queries: Queries, kept: KeptPolicies): Promise<readonly PolicyEntry[]> {
  const version = await readVersion(queries);
  const policies = await queries.all('SELECT id, rule_set FROM ip_policies');
  const policyOfSet = new Map(policies.map(([id, set]) => [set, String(id)]));
  const compiled = new Map<string, PolicyEntry>();
  let current: Value = null;
  let rules: Row[] = [];
  const finish = async () => {
    const [id, rows] = [policyOfSet.get(current), rules];
    rules = [];
    if (id === undefined || rows.length === 0) return;
    const compile = async () => {
      const compiledRules = await compileRules(flagAll(rows));
      return keep(kept, id, { ...compiledRules, version });
    };
    compiled.set(id, await orFault(id, compile));
  };
  for await (const rows of readAllRules(queries)) {
    for (const row of rows) {
      const [set = null] = row;
      if (set !== current) await finish();
      current = set;
      rules.push(row);
    }
  }
  await finish();
  const none = await compileRules([]);
  return policies.map(([id]) => compiled.get(String(id)) ?? toEntry(String(id), none));
}

/** Rows have the columns set, cidr and action. */
function* flagAll(rows: readonly Row[]): Generator<FlaggedCidr> {
  for (const [, cidr, action] of rows) yield flaggedCidr(cidr, action);
}

function toEntry(id: string, { packed }: CompiledRules): PolicyEntry {
  return { kind: 'policy', id, rules: packed };
}

function readRule(document: string | null): IpPolicyRule | undefined {
  // Only `ipPolicyRules` writes documents of this kind.
  return document === null ? undefined : (JSON.parse(document) as IpPolicyRule);
}
