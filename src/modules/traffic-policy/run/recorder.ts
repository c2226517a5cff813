import type { EvaluationFault } from '../../../lib/cel/run.ts';
import type { Outcome } from '../../step.ts';
import type { PlacedAction, Rule } from '../document/read-policy.ts';

/** Told what happens in a run, by whoever explains it. */
export interface Recorder {
  /** The next expression of the rule was evaluated. */
  condition(rule: Rule, value: boolean | EvaluationFault): void;
  /** The action was run; undefined: the visit goes on. */
  action(action: PlacedAction, outcome: Outcome | undefined): void;
}
