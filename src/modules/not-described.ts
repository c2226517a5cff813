import { visitBudget } from './visit-budget.ts';

/** Thrown where a step asks for something that is not known of a described visitor. */
export class NotDescribed extends Error {
  override readonly name = 'NotDescribed';

  /** `what`: in words, as in "it depends on the body of the request". */
  constructor(what = 'something that is not described') {
    super(what);
  }
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
