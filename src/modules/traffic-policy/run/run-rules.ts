import { policyPathAmbiguous, policyRuleFailed, policyValueFailed } from '../../../errors/shared.ts';
import { UserError } from '../../../errors/user-error.ts';
import { BudgetSpent, EvaluationFault } from '../../../lib/cel/run.ts';
import { normalizePath, otherReadings } from '../../../lib/request-path.ts';
import type { Outcome } from '../../step.ts';
import type { PlacedAction, Rule } from '../document/read-policy.ts';
import { requestUrl } from '../variables/request-url.ts';
import type { PolicyVisit } from './policy-visit.ts';
import type { RuleIndex } from './rule-index.ts';

/** Runs the rules that are left of the phase under way. Undefined: the visit goes on; after a wait it is run again. */
export function runRules(
  rules: readonly Rule[],
  index: RuleIndex | undefined,
  visit: PolicyVisit,
): Outcome | undefined {
  try {
    return runRest(rules, index, visit);
  } finally {
    visit.finishChanges();
  }
}

function runRest(rules: readonly Rule[], index: RuleIndex | undefined, visit: PolicyVisit): Outcome | undefined {
  const { position } = visit;
  for (; position.rule < rules.length; position.rule++, position.action = -1) {
    if (position.action < 0) {
      if (index !== undefined) position.rule = index.next(visit, position.rule);
      const rule = rules[position.rule];
      if (rule === undefined) return undefined;
      const isMatch = matchesAlike(rule, visit);
      if (isMatch instanceof UserError) return isMatch;
      if (!isMatch) continue;
      position.action = 0;
    }
    const { actions } = rules[position.rule]!;
    for (; position.action < actions.length; position.action++) {
      const outcome = runAction(actions[position.action]!, visit);
      if (outcome !== undefined) return outcome;
    }
  }
  return undefined;
}

/** Refuses a path that servers read in several ways, where the rule matches some of them and not the others. */
function matchesAlike(rule: Rule, visit: PolicyVisit): boolean | UserError {
  const isMatch = matches(rule, visit);
  if (isMatch instanceof UserError) return isMatch;
  if (rule.readsPathVar && rule.guards && isOpenToReadings(visit)) return new UserError(policyPathAmbiguous);
  if (!rule.readsPath) return isMatch;
  const { path } = requestUrl(visit);
  const readings = visit.cached('readings', path, () => otherReadings(path));
  if (readings === undefined) return new UserError(policyPathAmbiguous);
  for (const reading of readings) {
    visit.reading = reading;
    const other = matches(rule, visit);
    visit.reading = undefined;
    if (other !== isMatch) return other instanceof UserError ? other : new UserError(policyPathAmbiguous);
  }
  return isMatch;
}

/** Whether servers may read the path of the visitor in another way. What a variable would be then is not known. */
function isOpenToReadings({ request: { target } }: PolicyVisit): boolean {
  const [path = ''] = target.split('?', 1);
  return otherReadings(normalizePath(path))?.length !== 0;
}

/** Whether all conditions are true. One that cannot be decided is false, but closes what the rule guards. */
function matches(rule: Rule, visit: PolicyVisit): boolean | UserError {
  const { frame } = visit;
  const recorder = visit.reading === undefined ? visit.recorder : undefined;
  const { path, conditions, guards } = rule;
  for (let at = 0; at < conditions.length; at++) {
    try {
      const isTrue = conditions[at]!.run(frame) === true;
      recorder?.condition(rule, isTrue);
      if (!isTrue) return false;
    } catch (error) {
      if (!(error instanceof EvaluationFault)) throw error;
      recorder?.condition(rule, error);
      if (!guards && !(error instanceof BudgetSpent)) return false;
      const place = `${path}.expressions[${at}]`;
      return new UserError(policyRuleFailed, { path: place, reason: error.message }).withDetail(error.detail);
    }
  }
  return true;
}

function runAction(action: PlacedAction, visit: PolicyVisit): Outcome | undefined {
  const { path, built } = action;
  try {
    const outcome = built.run(visit);
    visit.recorder?.action(action, outcome);
    if (outcome === undefined && built.holds !== undefined) visit.checks.push(built);
    return outcome;
  } catch (error) {
    if (!(error instanceof EvaluationFault)) throw error;
    const refusal = new UserError(policyValueFailed, { path, reason: error.message }).withDetail(error.detail);
    visit.recorder?.action(action, refusal);
    return refusal;
  }
}
