import type { AccessRules, StepServices } from './step.ts';
import { visitBudget } from './visit-budget.ts';

/** Thrown where a step asks for something that is not known of a described visitor. */
export class NotDescribed extends Error {
  override readonly name = 'NotDescribed';

  /** `what`: in words, as in "it depends on the body of the request". */
  constructor(what = 'something that is not described') {
    super(what);
  }
}

/** Stands for something that is not known of a described visitor. */
export const unknown = (what?: string) => (): never => {
  throw new NotDescribed(what);
};

/** Services for a described visit: none of them has an effect outside of it. */
export function servicesOfDescribed(access: Pick<AccessRules, 'allows' | 'denies'>): StepServices {
  const [token, login] = [unknown('the token of the visitor'), unknown('the login of the visitor')];
  return {
    access: { ...access, isUnloadable: () => false },
    notes: { add: () => {} },
    rates: { take: unknown('how many visits came before') },
    requests: { send: unknown('the answer of another endpoint') },
    // Whoever may try a policy must not learn a secret by it.
    secrets: { get: (_account, vault, name) => unknown(`the secret ${name} of the vault ${vault}`)() },
    passwords: { check: (visit, refuses) => refuses(visit.headers) },
    tokens: { admit: token, judge: token },
    logins: { admit: login, holds: login, idToken: login },
  };
}

/** What a visit has that somebody describes, whatever they say. Nobody counts it, and it has been through no step. */
export function blankVisit() {
  return {
    accountId: '',
    edgeId: '',
    ownerId: '',
    countedSource: 0,
    policy: undefined,
    warn: () => undefined,
    budget: visitBudget(),
    outgoingBody: undefined,
    isUpgrade: false,
    operationId: () => '',
    identity: undefined,
    cookies: [],
    tokens: [],
    circuits: [],
  };
}
