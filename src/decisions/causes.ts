export { decisionCauses } from '../observe/decision-causes.ts';
export type { DecisionCause } from '../observe/decision-causes.ts';
