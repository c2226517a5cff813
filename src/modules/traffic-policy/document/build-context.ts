import type { Environment } from '../../../lib/cel/environment.ts';
import type { Phase } from '../phases.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';
import type { Reads } from './reads.ts';

/** What expressions of one phase of a policy are compiled in. */
export interface BuildContext {
  readonly phase: Phase;
  readonly environment: Environment<PolicyVisit>;
  /** Notes what they read. */
  readonly reads: Reads;
  /** Characters of the expressions of an action so far: all of them are compiled in one turn. */
  readonly ofAction: { characters: number };
}
