import type { Call } from '../../api/call.ts';
import { FairTurns } from '../../lib/fair-turns.ts';
import { Pace } from '../../lib/pace.ts';
import type { EntryFields } from '../configuration-kind.ts';
import { ipPolicyRuleSearch } from '../ip-policy-rules/service.ts';
import type { ResourceContext } from '../resource.ts';
import { newAdmissions } from './admissions.ts';
import type { Entries, OtherUser } from './admissions.ts';
import type { Plan } from './plan.ts';
import { mostAdmissions } from './schema.ts';
import type { State } from './state.ts';

/** Kinds of entries that decide who comes in. */
const deciding: ReadonlySet<string> = new Set([
  'ip_policies',
  'ip_restrictions',
  'tcp_edges',
  'tls_edges',
  'https_edges',
  'cloud_endpoints',
]);
/** Each holds the rules of its account; callers wait, and the limits of calls bound how many. */
const turns = new FairTurns({ atOnce: 2, ofOwner: 1, waiting: Infinity });

/** Tells whether a plan would let anybody in who is refused now. */
export async function tellAdmissions(
  { store, services }: Pick<ResourceContext, 'store' | 'services'>,
  { caller, isAbandoned }: Pick<Call, 'caller' | 'isAbandoned'>,
  state: State,
  plan: Plan,
) {
  const isAbout = plan.steps.some(({ kind }) => deciding.has(kind.kind));
  if (!isAbout) return { answer: 'no', admissions: [], total: 0 };
  const names = new Map(state.named.map(({ id, name }) => [id, name]));
  const nameOf = (id: string) => names.get(id) ?? id;
  const before = entriesOf(state);
  const { users } = await services.get(ipPolicyRuleSearch).uses(store.queries, caller.accountId);
  const others = [...users].flatMap(([id, policies]): readonly OtherUser[] => {
    // Restrictions, edges and cloud endpoints are entries.
    if (names.has(id) || /^(?:ipx|edg[a-z]*)_/.test(id)) return [];
    return [{ id, policies, isWhole: id.startsWith('ak_') }];
  });
  const found = await turns.run(caller.accountId, () =>
    newAdmissions(before, withSteps(before, plan), others, nameOf, new Pace(isAbandoned)),
  );
  const answer = found.some((each) => each.answer === 'yes') ? 'yes' : found.length > 0 ? 'unknown' : 'no';
  const shown = found.toSorted((one, other) => Number(one.answer === 'unknown') - Number(other.answer === 'unknown'));
  return {
    answer,
    admissions: shown.slice(0, mostAdmissions).map((each) => ({ ...each, example: each.example ?? null })),
    total: found.length,
  };
}

function entriesOf({ entries }: State): Entries {
  return new Map(
    [...entries].map(([kind, all]) => [kind, new Map([...all].map(([name, { fields }]) => [name, fields]))]),
  );
}

function withSteps(before: Entries, { steps }: Plan): Entries {
  const after = new Map([...before].map(([kind, all]): [string, Map<string, EntryFields>] => [kind, new Map(all)]));
  for (const { action, kind, name, whole } of steps) {
    const ofKind = after.get(kind.kind);
    if (action === 'delete') ofKind?.delete(name);
    else ofKind?.set(name, whole);
  }
  return after;
}
