import type { Decision } from '../../../../client/src/index.ts';
import { moduleTitle } from '../../parts/module-words.ts';

/** The cause of a refusal, or of a warning; `to` leads to it where it has a page. */
export interface Cause {
  readonly text: string;
  readonly to?: string;
}

/** Names of restrictions by their ids. */
interface Names {
  readonly restriction: (id: string) => { readonly name: string };
}

/** Said where a decision does not tell what has made it. */
export const notKept = 'What decided was not kept';

/** The cause that decided against the visitor; undefined where nothing did. */
export function causeOf(decision: Decision, names: Names): Cause | undefined {
  const { verdict, restrictions = [], module, would_be_refused_by: notEnforced, reason, code } = decision;
  const [first, ...more] = restrictions;
  if (verdict === 'allowed') return undefined;
  if (first !== undefined) {
    const others = more.length === 0 ? '' : ` and ${more.length} more`;
    return { text: `IP restriction “${names.restriction(first).name}”${others}`, to: `/ip-restrictions/${first}` };
  }
  const by = verdict === 'warned' ? (notEnforced ?? module) : module;
  if (by !== undefined) return { text: moduleTitle(by) };
  if (reason !== undefined) return { text: reason };
  return { text: code === undefined ? notKept : `Error ${code}` };
}
