import { someNames } from '../../lib/some-names.ts';
import type { Finding, PolicyList, RuleRef } from './finding.ts';

/** Finding and remedy, as one line for a tired operator. */
export function describeFinding(finding: Finding): string {
  switch (finding.kind) {
    case 'rule_contradictory':
      return `${nameOf(finding.rule)} lets nobody in, because ${of(finding)} denies all of it, and a denial wins. Delete it, or take its addresses out of what is denied.`;
    case 'rule_duplicate':
      return `${nameOf(finding.rule)} never decides: ${of(finding)} says the same. Delete one of them.`;
    case 'rule_shadowed':
      return `${nameOf(finding.rule)} never decides: ${of(finding)} covers all of it. Delete it.`;
    case 'rule_needless':
      return `${nameOf(finding.rule)} never decides: no rule allows anything of it, and what no rule allows is refused anyway. Delete it, unless it is there for rules to come.`;
    case 'admits_nobody':
      return `${listOf(finding.list)} ${verb(finding.list, 'let')} nobody in${usersOf(finding.list)}. Add a rule that allows, or take away what denies.`;
    case 'admits_everybody':
      return `${listOf(finding.list)} ${verb(finding.list, 'let')} everybody in, from every address of IPv4 and IPv6${usersOf(finding.list)}. Narrow the rules, or delete what uses them.`;
    case 'unguarded':
      return `Nothing guards ${finding.door.name} (${finding.door.id}): anybody reaches it. If that is not meant, give it a login or an IP restriction.`;
    default:
      return `Whether something guards ${finding.door.name} (${finding.door.id}) is unknown: its traffic policy decides by each visit. Try visitors with "gatehouse check-ip ADDRESS" and the id.`;
  }
}

function nameOf({ action, cidr, policyId }: RuleRef): string {
  return `The rule "${action} ${cidr}" of ${policyId}`;
}

function of({ rule, by }: { readonly rule: RuleRef; readonly by: RuleRef | undefined }): string {
  if (by === undefined) return 'another rule';
  const where = by.policyId === rule.policyId ? '' : ` of ${by.policyId}`;
  const isPart = by.action === 'deny' && rule.action === 'allow' && prefixOf(by) > prefixOf(rule);
  return `"${by.action} ${by.cidr}"${where}${isPart ? ', together with others,' : ''}`;
}

function prefixOf({ cidr }: RuleRef): number {
  return Number(cidr.slice(cidr.indexOf('/') + 1));
}

function listOf({ policyIds }: PolicyList): string {
  return policyIds.length === 1
    ? `The IP policy ${policyIds[0]}`
    : `The IP policies ${someNames(policyIds, 'and')} together`;
}

function verb({ policyIds }: PolicyList, word: string): string {
  return policyIds.length === 1 ? `${word}s` : word;
}

function usersOf({ users }: PolicyList): string {
  return users.length === 0 ? '' : `, at ${someNames(users, 'and')}`;
}
