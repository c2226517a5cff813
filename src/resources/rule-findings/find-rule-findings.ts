import { isEmpty, isEverybody } from '../../lib/ip/address-sets.ts';
import { coverRules, RuleColumns } from '../../lib/ip/rule-coverage.ts';
import type { Coverage } from '../../lib/ip/rule-coverage.ts';
import { Pace } from '../../lib/pace.ts';
import { finishInTurns } from '../../lib/steps.ts';
import type { FindingList, PolicyList, RuleRef } from './finding.ts';

/** Rules that are gone through for all lists of policies together. */
const mostSteps = 8_000_000;
const families = ['ipv4', 'ipv6'] as const;
type Family = (typeof families)[number];

/** Whom the policies of a list admit. */
export type Admits = 'everybody' | 'nobody' | 'some';

/** What is known of the rules of a policy. */
interface Known {
  readonly columns: RuleColumns;
  /** Lists that it is in and that were not looked at yet. */
  left: number;
  /** For each rule, 1 where it has not decided in any list so far. */
  readonly idle: Readonly<Record<Family, Uint8Array>>;
}

/** A policy within a list. */
interface Part {
  readonly id: string;
  readonly known: Known;
  /** The place of its first rule among those of the list. */
  readonly first: Readonly<Record<Family, number>>;
}

export function keyOfList(policyIds: readonly string[]): string {
  return [...new Set(policyIds)].toSorted().join(' ');
}

/**
 * Finds rules that decide in none of the lists that their policy is in, and lists that admit everybody or nobody. Returns whom
 * each list admits, by `keyOfList`; one that was not looked at is missing.
 */
export async function findRuleFindings(
  lists: readonly PolicyList[],
  columnsOf: ReadonlyMap<string, RuleColumns>,
  found: FindingList,
  isAbandoned: () => boolean,
): Promise<ReadonlyMap<string, Admits>> {
  const pace = new Pace(isAbandoned);
  const known = knownOf(lists, columnsOf);
  const admits = new Map<string, Admits>();
  let steps = 0;
  for (const list of lists) {
    const parts = partsOf(list, known);
    const rules = parts?.reduce((sum, each) => sum + each.known.columns.count, 0) ?? 0;
    if (parts === undefined || steps + rules > mostSteps) {
      found.isComplete = false;
      continue;
    }
    steps += rules;
    const columns = await joined(parts, pace);
    const coverage = await finishInTurns(coverRules(columns), pace);
    for (const part of parts) await note(part, parts, coverage, list, found, pace);
    if (list.isWhole) admits.set(keyOfList(list.policyIds), noteAdmits(list, coverage, rules, found));
    if (pace.isDue) await pace.giveWay();
  }
  return admits;
}

function noteAdmits(list: PolicyList, { admitted }: Coverage, rules: number, found: FindingList): Admits {
  if (isEverybody(admitted)) {
    found.add('admits_everybody', () => ({ kind: 'admits_everybody', list }));
    return 'everybody';
  }
  if (!isEmpty(admitted)) return 'some';
  // A policy that nothing uses yet may have no rules yet.
  if (list.users.length > 0 || rules > 0) found.add('admits_nobody', () => ({ kind: 'admits_nobody', list }));
  return 'nobody';
}

function knownOf(
  lists: readonly PolicyList[],
  columnsOf: ReadonlyMap<string, RuleColumns>,
): ReadonlyMap<string, Known> {
  const known = new Map<string, Known>();
  for (const id of lists.flatMap(({ policyIds }) => policyIds)) {
    const columns = columnsOf.get(id);
    if (columns === undefined) continue;
    const { ipv4, ipv6 } = columns;
    const entry = known.get(id) ?? {
      columns,
      left: 0,
      idle: { ipv4: new Uint8Array(ipv4.count).fill(1), ipv6: new Uint8Array(ipv6.count).fill(1) },
    };
    entry.left += 1;
    known.set(id, entry);
  }
  return known;
}

/** Undefined where the rules of one were not read. */
function partsOf({ policyIds }: PolicyList, known: ReadonlyMap<string, Known>): readonly Part[] | undefined {
  const parts: Part[] = [];
  const first = { ipv4: 0, ipv6: 0 };
  for (const id of policyIds.toSorted()) {
    const entry = known.get(id);
    if (entry === undefined) return undefined;
    parts.push({ id, known: entry, first: { ...first } });
    for (const family of families) first[family] += entry.columns[family].count;
  }
  return parts;
}

async function joined(parts: readonly Part[], pace: Pace): Promise<RuleColumns> {
  const [only] = parts;
  if (only !== undefined && parts.length === 1) return only.known.columns;
  const all = new RuleColumns();
  for (const { known } of parts) {
    all.appendAll(known.columns);
    if (pace.isDue) await pace.giveWay();
  }
  return all;
}

/** Notes which rules of a policy decide in the list; after the last of its lists, tells those that never do. */
async function note(
  { known, id, first }: Part,
  parts: readonly Part[],
  coverage: Coverage,
  { isWhole }: PolicyList,
  found: FindingList,
  pace: Pace,
): Promise<void> {
  known.left -= 1;
  for (const family of families) {
    const { [family]: idle } = known.idle;
    for (let row = 0; row < idle.length; row++) {
      if (row % 8_192 === 0 && pace.isDue) await pace.giveWay();
      if (idle[row] === 0) continue;
      const place = first[family] + row;
      const idleKind = coverage[family].kindOf(place);
      // What others allow beside them, a rule may well deny.
      if (idleKind === undefined || (idleKind === 'needless' && !isWhole)) idle[row] = 0;
      else if (known.left === 0) {
        const kind = `rule_${idleKind}` as const;
        found.add(kind, () => ({
          kind,
          rule: { policyId: id, ...known.columns.ruleAt(family, row) },
          by: idleKind === 'needless' ? undefined : ruleAt(parts, family, coverage[family].decidedBy(place)),
        }));
      }
    }
  }
}

function ruleAt(parts: readonly Part[], family: Family, place: number): RuleRef | undefined {
  const part = parts.findLast(({ first }) => first[family] <= place);
  return part && { policyId: part.id, ...part.known.columns.ruleAt(family, place - part.first[family]) };
}
