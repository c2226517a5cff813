import type { Environment, Overload } from '../../../lib/cel/environment.ts';
import { functions } from '../../../lib/cel/functions/index.ts';
import type { ConnectionServices, ConnectionVisit } from '../../step.ts';
import { visitBudget } from '../../visit-budget.ts';
import { PolicyVisit } from '../run/policy-visit.ts';
import { ofAnyPhase } from './functions.ts';

const beforeVisit = 'only secrets.get() is known here, because it is needed before there is a visit';
const namesOfVisits = ['actions', 'conn', 'endpoint', 'req', 'res', 'time', 'vars'];

/** What expressions may name that are evaluated before there is a visit: secrets alone. */
export const ofSecrets: Environment<PolicyVisit> = {
  variables: new Map(),
  free: new Map(),
  // What is read must stay the same until a secret changes.
  functions: new Map<string, readonly Overload<PolicyVisit>[]>(
    [...functions, ...Object.entries(ofAnyPhase)].filter(([name]) => !name.startsWith('rand.')),
  ),
  notOffered: new Map([...namesOfVisits, 'rand'].map((name) => [name, beforeVisit])),
};

/** Secrets of vaults by their names. */
export type Secrets = ConnectionServices['secrets'];

/** A visit for expressions that were compiled for secrets alone. */
export function visitOfSecrets(accountId: string, secrets: Secrets): PolicyVisit {
  // Nothing else of it can be named.
  const engine = { accountId, services: { secrets }, budget: visitBudget() };
  return new PolicyVisit({ key: '' }, engine as unknown as ConnectionVisit);
}
