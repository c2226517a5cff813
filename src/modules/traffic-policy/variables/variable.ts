import type { Variable } from '../../../lib/cel/environment.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';

/** Variables by their dotted names. */
export type Variables = Readonly<Record<string, Variable<PolicyVisit>>>;
