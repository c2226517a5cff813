import type { RuleFindings } from '../../../client/src/index.ts';
import { useOne } from './queries.ts';
import type { Read } from './queries.ts';

export type RuleFinding = RuleFindings['findings'][number];

/** Proofs of the server about the rules of the account, or about one policy. */
export function useRuleFindings(policyId?: string): Read<RuleFindings> {
  const read = useOne('RuleFindings', { query: policyId === undefined ? {} : { ip_policy_id: policyId } });
  return { ...read, data: read.data?.document };
}
