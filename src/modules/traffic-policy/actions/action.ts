import type { Type } from '../../../lib/cel/types.ts';
import type { Cidr } from '../../../lib/ip/cidr.ts';
import type { ConnectionStep, Outcome, RequestStep } from '../../step.ts';
import type { ConfigReader } from '../document/config-reader.ts';
import type { Phase } from '../phases.ts';
import type { PolicyVisit } from '../run/policy-visit.ts';

/** Something that rules do. A new one is a file in this folder, and a line in `index.ts`. */
export interface Action {
  /** As documents name it. */
  readonly type: string;
  readonly phases: readonly Phase[];
  /** True: it decides about access, so that a rule with it must not be passed over because an expression fails. */
  readonly guards: boolean;
  /** What later expressions read below `actions.ngrok.NAME`. */
  readonly result?: { readonly name: string; readonly fields: Readonly<Record<string, Type>> };
  /** Reads its config and makes it ready; keys that it does not ask for are refused. Throws `UserError`. */
  build(this: void, config: ConfigReader): BuiltAction;
}

/** An action of a rule, ready to be run. */
export interface BuiltAction {
  /** True: nothing behind it in its phase runs. */
  readonly ends: boolean;
  /** Set where its config says whether it decides about access. */
  readonly guards?: boolean;
  /**
   * Undefined: the visit goes on. One that returns `hold`, `wait`, or `forward` with `onError` is run again with the same visit;
   * `visit.keep` has room for what it knows by then. An `EvaluationFault` that it throws closes.
   */
  run(this: void, visit: PolicyVisit): Outcome | undefined;
  /** As of a step; asked of visits that it has let pass. Its absence: nothing of it concerns an open connection. */
  holds?(this: void, visit: PolicyVisit): number;
  /** The name of a login, empty where it has none. */
  readonly authId?: string;
  /** Facts that a route must know before a request. */
  readonly facts?: ActionFacts;
}

export type ActionFacts = Partial<
  Pick<RequestStep, 'reads' | 'signIn' | 'soleHeader' | 'clientCa' | 'needsTls13' | 'stateKey'>
> & {
  /** Headers that it adds to and removes from the request or the answer, in lower case. */
  readonly changes?: readonly string[];
  /** True: the upstream must send answers whole and uncompressed. */
  readonly needsPlainAnswer?: true;
  /** Checks how TLS has ended, and says before how it will. */
  readonly tlsStep?: ConnectionStep;
  /** Ids of IP policies. */
  readonly ipPolicyIds?: readonly string[];
  /** Ranges that decide together with these; undefined where some of them are filled in with what is known of a visit. */
  readonly ranges?: { readonly allow: readonly Cidr[]; readonly deny: readonly Cidr[] };
};
