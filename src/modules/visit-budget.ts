import { Budget } from '../lib/cel/run.ts';

/** Units that all expressions of one visit may cost together, at every endpoint that it comes to: some 5 ms. */
const unitsOfVisit = 200_000;

export function visitBudget(): Budget {
  return new Budget(unitsOfVisit);
}
