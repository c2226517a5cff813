import type { Call } from '../../api/call.ts';
import { FairTurns, TooMuchWaits } from '../../lib/fair-turns.ts';
import { Pace } from '../../lib/pace.ts';
import type { EntryFields } from '../configuration-kind.ts';
import { ipPolicyRuleSearch } from '../ip-policy-rules/service.ts';
import type { ResourceContext } from '../resource.ts';
import type { Services } from '../services.ts';
import { agentTunnels } from '../tunnels/service.ts';
import { newAdmissions, TooMuchToTell } from './admissions.ts';
import type { Admissions, AgentWildcard, Entries, OtherUser } from './admissions.ts';
import type { Plan } from './plan.ts';
import type { State } from './state.ts';

const pageSize = 100;
/** Kinds of entries that decide who comes in. */
const deciding: ReadonlySet<string> = new Set([
  'ip_policies',
  'ip_restrictions',
  'tcp_edges',
  'tls_edges',
  'https_edges',
  'cloud_endpoints',
]);
/** Each holds the rules of its account. */
export const admissionTurns = new FairTurns({ atOnce: 2, ofOwner: 1, waiting: 10 });

/** Tells whether a plan would let anybody in who is refused now. */
export async function tellAdmissions(
  context: Pick<ResourceContext, 'store' | 'services'>,
  { caller, isAbandoned }: Pick<Call, 'caller' | 'isAbandoned'>,
  state: State,
  plan: Plan,
) {
  const isAbout = plan.steps.some(({ kind }) => deciding.has(kind.kind));
  const told = isAbout
    ? await admissionTurns
        .run(caller.accountId, () => findAdmissions(context, caller.accountId, isAbandoned, state, plan))
        .catch(untold)
    : ({ answer: 'no', admissions: [], total: 0 } as const);
  return { ...told, admissions: told.admissions.map((each) => ({ ...each, example: each.example ?? null })) };
}

/** What is too much to be told may let anybody in. */
function untold(error: unknown): Admissions {
  if (error instanceof TooMuchWaits)
    return nothingTold('too many plans of this account wait for their turn; ask again');
  if (error instanceof TooMuchToTell) return nothingTold('its rules, together with what uses them, are too many');
  throw error;
}

function nothingTold(text: string): Admissions {
  return {
    answer: 'unknown',
    admissions: [{ to: 'the account', answer: 'unknown', example: undefined, text }],
    total: 1,
  };
}

async function findAdmissions(
  { store, services }: Pick<ResourceContext, 'store' | 'services'>,
  accountId: string,
  isAbandoned: () => boolean,
  state: State,
  plan: Plan,
): Promise<Admissions> {
  const pace = new Pace(isAbandoned);
  const names = new Map(state.named.map(({ id, name }) => [id, name]));
  const nameOf = (id: string) => names.get(id) ?? id;
  const before = entriesOf(state);
  const all = await services.get(ipPolicyRuleSearch).uses(store.queries, accountId);
  const users = [...all.users].flatMap(([id, policies]): readonly OtherUser[] => {
    // Restrictions, edges and cloud endpoints are entries.
    if (names.has(id) || /^(?:ipx|edg[a-z]*)_/.test(id)) return [];
    return [{ id, policies, isWhole: id.startsWith('ak_') }];
  });
  const wildcards: AgentWildcard[] = [];
  for await (const { id, url } of tunnelsOf(services, accountId, pace))
    if (url.includes('://*.')) wildcards.push({ id: id.replace(/^tn_/, 'ep_'), url });
  return newAdmissions(before, withSteps(before, plan), { users, wildcards }, nameOf, pace);
}

async function* tunnelsOf(services: Services, accountId: string, pace: Pace) {
  for (let beforeId: string | undefined; ;) {
    const page = await services.get(agentTunnels).page(accountId, { beforeId, limit: pageSize });
    yield* page;
    if (page.length < pageSize) return;
    beforeId = page.at(-1)?.id;
    if (pace.isDue) await pace.giveWay();
  }
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
