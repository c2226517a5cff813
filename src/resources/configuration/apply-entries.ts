import type { Call } from '../../api/call.ts';
import { checkIfMatch, setEtag } from '../../api/http/etag.ts';
import { UserError } from '../../errors/user-error.ts';
import { FairTurns, TooMuchWaits } from '../../lib/fair-turns.ts';
import { abandonable } from '../../store/abandonable.ts';
import { StoreUnavailableError } from '../../store/database.ts';
import type { Queries } from '../../store/database.ts';
import type { Store } from '../../store/store.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import { configurationKinds } from '../configuration-kind.ts';
import { rehearse } from '../rehearse.ts';
import type { ResourceContext } from '../resource.ts';
import { carryOut, orderOf } from './apply.ts';
import type { StepIds } from './apply.ts';
import { tooManyEntries, tooManyMoments } from './errors.ts';
import { readMoment, readNeighbours } from './moment.ts';
import type { Moment, Neighbours } from './moment.ts';
import { writeNames } from './names.ts';
import { readPast } from './past.ts';
import { piecesOf } from './pieces.ts';
import { acceptDeclared, planSteps } from './plan.ts';
import type { Plan, PlanOptions, Step, Declared, DeclaredEntry } from './plan.ts';
import { tellAdmissions } from './tell-admissions.ts';
import { QuotaMeter } from './quota-meter.ts';
import type { EarlierMoments } from './service.ts';
import { digestOf, readPastState, readState } from './state.ts';
import type { State } from './state.ts';

interface Options extends PlanOptions {
  readonly dryRun: boolean;
}

/** Plans that are made anew because the configuration has changed; the next one is made inside the transaction. */
const planLimit = 3;

/** Readings of earlier moments, which may each take a second: one of an account at a time. */
const pastLimits = { atOnce: 2, ofOwner: 1, waiting: 10 };
export const pastReads = new FairTurns(pastLimits);

/** Reads the configuration; names that it makes are kept where `remember` says so. */
export async function currentState(
  { store, services }: ResourceContext,
  { caller: { accountId }, isAbandoned }: Call,
  { remember }: { readonly remember: boolean },
): Promise<State> {
  const kinds = services.all(configurationKinds);
  const state = await store.readSnapshot((queries) => readState(abandonable(queries, isAbandoned), accountId, kinds));
  const { gone, fresh } = state;
  // A name is no part of the configuration, and leaves no trace in the change log.
  if (remember && gone.length + fresh.length > 0)
    await keepIfPossible(store.writeUnlogged((writer) => writeNames(writer, accountId, gone, fresh), accountId));
  return state;
}

/** Reads the configuration as it was. */
export async function pastState(
  { store, services }: ResourceContext,
  { caller: { accountId }, isAbandoned }: Call,
  at: string | undefined,
): Promise<{ readonly state: State; readonly moment: Moment; readonly neighbours: Neighbours }> {
  const kinds = services.all(configurationKinds);
  const read = async (snapshot: Queries) => {
    const queries = abandonable(snapshot, isAbandoned);
    const moment = await readMoment(queries, accountId, at);
    const neighbours = await readNeighbours(queries, accountId, moment);
    return { moment, neighbours, state: await readPastState(queries, accountId, kinds, moment) };
  };
  return inTurn(accountId, () => store.readSnapshot(read));
}

async function inTurn<Result>(accountId: string, work: () => Promise<Result>): Promise<Result> {
  return pastReads.run(accountId, work).catch((error: unknown) => {
    throw error instanceof TooMuchWaits ? new UserError(tooManyMoments, { count: pastLimits.waiting }) : error;
  });
}

export function earlierMomentsOf(store: Store): EarlierMoments {
  return {
    read: ({ caller: { accountId }, isAbandoned }, at, kinds, work) =>
      inTurn(accountId, () =>
        store.readSnapshot(async (snapshot) => {
          const queries = abandonable(snapshot, isAbandoned);
          const moment = await readMoment(queries, accountId, at);
          const past = await readPast(queries, accountId, moment.version, [{ changeKinds: kinds }]);
          return work(queries, past, moment);
        }),
      ),
  };
}

/** A disk that is full does not keep anybody from reading: the same resources get the same names the next time. */
async function keepIfPossible(writing: Promise<void>): Promise<void> {
  try {
    await writing;
  } catch (error) {
    if (!(error instanceof StoreUnavailableError)) throw error;
  }
}

export async function applyEntries(context: ResourceContext, call: Call<readonly DeclaredEntry[]>, options: Options) {
  const { services, settings } = context;
  const kinds = services.all(configurationKinds);
  const declared = await acceptDeclared(kinds, call.body, settings.configurationEntries, call.isAbandoned);
  return applyDeclared(context, call, declared, options);
}

/** Makes the configuration what it was at a moment; what goes is deleted, and what is no more is made anew. */
export async function returnTo(context: ResourceContext, call: Call, at: string, dryRun: boolean) {
  // A name that is made only now must be the same on both sides, or the resource would be deleted and made anew.
  await currentState(context, call, { remember: true });
  const { state, moment } = await pastState(context, call, at);
  const declared = declaredOf(state);
  const limit = context.settings.configurationEntries;
  if (declared.length > limit) throw new UserError(tooManyEntries, { count: declared.length, limit });
  const { head, steps } = await applyDeclared(context, call, declared, { dryRun, prune: true, replaces: true });
  return { moment, ...head, steps };
}

/** What changed from one moment to another, or to now. */
export async function compareMoments(
  context: ResourceContext,
  call: Call,
  from: string | undefined,
  to: string | undefined,
) {
  const kinds = context.services.all(configurationKinds);
  // Names that are made now are kept, so that both sides have the same.
  const now = await currentState(context, call, { remember: true });
  const before = await pastState(context, call, from);
  const after = to === undefined ? { state: now, moment: null } : await pastState(context, call, to);
  const options = { prune: true, replaces: true };
  const plan = await planSteps(before.state, declaredOf(after.state), kinds, options, call.isAbandoned);
  // What is gone is known by the first state.
  const idOf = ({ action, kind, name }: Step) =>
    (action === 'delete' ? before : after).state.entries.get(kind.kind)?.get(name)?.document.id ?? null;
  return { from: before.moment, to: after.moment, ...counts(plan), steps: shownSteps(plan, idOf) };
}

function declaredOf({ entries }: State): Declared {
  return [...entries.values()].flatMap((ofKind) =>
    [...ofKind.values()].map(({ kind, name, fields }) => ({ kind, name, fields })),
  );
}

async function applyDeclared(context: ResourceContext, call: Call, declared: Declared, options: Options) {
  for (let plans = 1; ; plans++) {
    const state = await currentState(context, call, { remember: false });
    const plan = await planFor(context, call, declared, options, state);
    const ids = await perform(context, call, declared, options, { state, plan, isLast: plans === planLimit });
    if (ids === undefined) continue;
    const shown = present(options, ids.plan, ids.ids);
    return options.dryRun
      ? { ...shown, head: { ...shown.head, admits_new: await tellAdmissions(context, call, state, ids.plan) } }
      : shown;
  }
}

async function planFor(
  { services }: ResourceContext,
  call: Call,
  declared: Declared,
  options: Options,
  state: State,
): Promise<Plan> {
  const current = await digestOf(state, call.isAbandoned);
  checkIfMatch(call, current);
  setEtag(call, current);
  return planSteps(state, declared, services.all(configurationKinds), options, call.isAbandoned);
}

interface Planned {
  readonly state: State;
  readonly plan: Plan;
  readonly isLast: boolean;
}

interface Performed {
  readonly plan: Plan;
  readonly ids: StepIds;
}

/** Undefined where the configuration has changed since the plan was made. */
async function perform(
  context: ResourceContext,
  call: Call,
  declared: Declared,
  options: Options,
  planned: Planned,
): Promise<Performed | undefined> {
  const { plan, isLast } = planned;
  if (plan.steps.length === 0) return { plan, ids: new Map() };
  const work = (steps: readonly Step[], meter?: QuotaMeter) => (transaction: Transaction) =>
    performWithin(transaction, context, call, declared, options, { ...planned, plan: { ...plan, steps }, meter });
  if (!options.dryRun) return context.store.write(call.actor, work(plan.steps));
  const ids = new Map<Step, string>();
  // The last plan is made anew within the transaction, and so it has no pieces yet.
  const pieces = isLast ? [plan.steps] : await piecesOf(plan.steps, call.isAbandoned);
  for (const ofEachStep of [false, true]) {
    const meter = pieces.length > 1 ? new QuotaMeter(call.caller.accountId, { ofEachStep }) : undefined;
    for (const steps of pieces) {
      const piece = await rehearse(context.store, call.actor, work(steps, meter));
      if (piece === undefined || isLast) return piece;
      for (const [step, id] of piece.ids) ids.set(step, id);
    }
    if (ofEachStep) await meter?.check(orderOf(plan.steps, context.services));
    else if (meter?.isNear !== true) break;
  }
  return { plan, ids };
}

async function performWithin(
  transaction: Transaction,
  context: ResourceContext,
  call: Call,
  declared: Declared,
  options: Options,
  { state, plan, isLast, meter }: Planned & { readonly meter: QuotaMeter | undefined },
): Promise<Performed | undefined> {
  const { services } = context;
  const { accountId } = call.caller;
  const kinds = services.all(configurationKinds);
  const changeKinds = kinds.flatMap((kind) => kind.changeKinds);
  let planned: { readonly state: State; readonly plan: Plan } = { state, plan };
  if (await isOutdated(transaction, state, changeKinds)) {
    if (!isLast) return undefined;
    const now = await readState(transaction, accountId, kinds);
    planned = { state: now, plan: await planFor(context, call, declared, options, now) };
  }
  if (!options.dryRun) await writeNames(transaction, accountId, planned.state.gone, planned.state.fresh);
  return {
    plan: planned.plan,
    ids: await carryOut(transaction, services, call, planned.state, planned.plan, meter),
  };
}

async function isOutdated(
  transaction: Transaction,
  { version }: State,
  changeKinds: readonly string[],
): Promise<boolean> {
  return (await transaction.changesAfter(version, changeKinds, 1)).length > 0;
}

function present({ dryRun }: Options, plan: Plan, ids: StepIds) {
  const idOf = (step: Step) => (dryRun && step.action === 'create' ? null : (ids.get(step) ?? null));
  return { head: { dry_run: dryRun, ...counts(plan) }, steps: shownSteps(plan, idOf) };
}

function counts({ steps, unchanged }: Plan) {
  const count = (wanted: Step['action']) => steps.filter(isShown).filter(({ action }) => action === wanted).length;
  return { created: count('create'), changed: count('change'), deleted: count('delete'), unchanged };
}

/** An entry that stays the same by its fields is no change to people. */
function isShown({ action, changes }: Step): boolean {
  return action !== 'change' || changes.length > 0;
}

function shownSteps({ steps }: Plan, idOf: (step: Step) => string | null) {
  return steps.filter(isShown).map((step) => ({
    action: step.action,
    kind: step.kind.kind,
    name: step.name,
    id: idOf(step),
    fields: step.changes,
  }));
}
