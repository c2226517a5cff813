import { useList } from '../../api/queries.ts';
import { useRuleFindings } from '../../api/rule-findings.ts';
import type { RuleFinding } from '../../api/rule-findings.ts';
import { countOf, formatNumber, nameOf } from '../../lib/text.ts';
import { isOfRule, useFindingText } from '../../parts/rule-findings.tsx';
import type { Need } from './need.ts';

/** Proofs about the rules that need a person; undefined until they are known. */
export function useRuleNeeds(): readonly Need[] | undefined {
  const { data, error } = useRuleFindings();
  const { data: policies = [] } = useList('IpPoliciesList');
  const textOf = useFindingText();
  if (error !== undefined && data === undefined)
    return [{ ...unknown, title: 'Rules could not be looked through', note: error.message }];
  if (data === undefined) return undefined;
  const { findings, totals, is_complete: isComplete } = data;
  const names = new Map(policies.map((policy) => [policy.id, nameOf(policy)]));
  const ofRules = Map.groupBy(findings.filter(isOfRule), groupOf);
  const needs = [...ofRules].flatMap(([key, [first, ...more]]): readonly Need[] => {
    if (first === undefined) return [];
    const id = first.ip_policies[0]?.id ?? '';
    const count = more.length + 1;
    const isBlocked = first.kind === 'rule_contradictory';
    const need: Need = {
      key: `rules ${key}`,
      tone: 'warn',
      title: `${names.get(id) ?? id}: ${countOf(count, 'rule', 'rules')} ${isBlocked ? (count === 1 ? 'lets nobody in' : 'let nobody in') : count === 1 ? 'never decides' : 'never decide'}`,
      note: textOf(first),
      action: { to: `/ip-policies/${id}`, words: 'See the policy' },
      level: count,
      ...(isBlocked ? {} : { isCalm: true as const }),
    };
    return [need];
  });
  const ofPolicies = findings
    .filter(({ kind, used_by: users }) => isOfPolicies(kind) && users.length > 0)
    .map((finding): Need => ({
      key: `${finding.kind} ${finding.ip_policies.map(({ id }) => id).join(' ')}`,
      tone: 'warn',
      title: `${finding.ip_policies.map(({ id }) => names.get(id) ?? id).join(' and ')}: ${finding.kind === 'admits_nobody' ? 'nobody' : 'everybody'} is let in`,
      note: textOf(finding),
      action: { to: `/ip-policies/${finding.ip_policies[0]?.id ?? ''}`, words: 'See the policy' },
      level: 0,
    }));
  const doors = (['unguarded', 'cannot_tell'] as const).flatMap((kind): readonly Need[] => {
    const total = totals[kind] ?? 0;
    const first = findings.find((finding) => finding.kind === kind);
    return total === 0 || first === undefined ? [] : [doorNeed(first, total)];
  });
  const left = isComplete
    ? []
    : [
        {
          ...unknown,
          title: 'Not all rules, edges and endpoints were looked at',
          note: 'There are more than one look goes through.',
        },
      ];
  return [...needs, ...ofPolicies, ...doors, ...left];
}

const unknown = { key: 'rules unknown', tone: 'warn', level: 0, isCalm: true } as const;

function isOfPolicies(kind: RuleFinding['kind']): boolean {
  return kind === 'admits_nobody' || kind === 'admits_everybody';
}

/** By policy; rules that let nobody in are apart from those that only stand there. */
function groupOf({ kind, ip_policies: policies }: RuleFinding): string {
  return `${kind === 'rule_contradictory' ? 'blocked' : 'idle'} ${policies[0]?.id ?? ''}`;
}

function doorNeed({ kind, text, uri }: RuleFinding, total: number): Need {
  const places = total === 1 ? 'one place' : `${formatNumber(total)} places`;
  const to = pathOf(uri ?? '');
  return {
    key: kind,
    tone: 'warn',
    title: kind === 'unguarded' ? `Nothing guards ${places}` : `It is unknown whether something guards ${places}`,
    note: total === 1 ? text : `The first: ${text}`,
    ...(to === undefined ? {} : { action: { to, words: 'See the first' } }),
    level: total,
    isCalm: true,
  };
}

/** The page of an edge or endpoint, by its URI or that of one of its routes. */
function pathOf(uri: string): string | undefined {
  const [, kind, id] = /\/edges\/(https|tcp|tls)\/([^/]+)/.exec(uri) ?? [];
  if (kind !== undefined && id !== undefined) return `/${kind}-edges/${id}`;
  const [, endpoint] = /\/endpoints\/([^/]+)$/.exec(uri) ?? [];
  return endpoint === undefined ? undefined : `/endpoints/${endpoint}`;
}
