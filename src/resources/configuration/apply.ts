import type { Call } from '../../api/call.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { Transaction } from '../../store/write/transaction.ts';
import type { Stored } from '../../store/table.ts';
import { configurationKinds } from '../configuration-kind.ts';
import type { EntryWrite } from '../configuration-kind.ts';
import { lockoutGuard } from '../ip-restrictions/service.ts';
import type { Services } from '../services.ts';
import { atPlace } from './entry-place.ts';
import { claimsLeft } from './claims-left.ts';
import { unknownName } from './errors.ts';
import { writeNames } from './names.ts';
import type { NamedResource } from './names.ts';
import type { Plan, Step } from './plan.ts';
import type { QuotaMeter } from './quota-meter.ts';
import type { State } from './state.ts';

/** Ids of the resources that the steps have made or found. */
export type StepIds = ReadonlyMap<Step, string>;

/**
 * Carries out a plan within the transaction, by the writes of single calls. What names others, or holds what others may
 * want, is deleted first; names and ports that change hands are given back before they are taken; what others may have
 * named is deleted last. The lock-out guard looks at the end alone, because steps in between mean nothing.
 */
export async function carryOut(
  transaction: Transaction,
  services: Services,
  call: Call,
  state: State,
  { steps }: Plan,
  meter?: QuotaMeter,
): Promise<StepIds> {
  await meter?.begin(transaction);
  const ids = namesOf(state);
  const write = entryWrite(transaction, call, ids);
  const documents = new Map<Step, Stored>();
  for (const step of steps) if (step.entry !== undefined) documents.set(step, step.entry.document);
  const run = (step: Step, work: (document: Stored) => Promise<void>) =>
    atPlace({ kind: step.kind.kind, name: step.name }, () => work(documentOf(documents, step)));
  const inBatches = (batches: readonly (readonly Step[])[], work: (step: Step) => Promise<void>) =>
    carryOutBatches(transaction, batches, work, meter);
  const remove = (batches: readonly (readonly Step[])[]) =>
    inBatches(batches, (step) => run(step, (document) => step.kind.remove(write, document)));
  const { first, puts, last } = phasesOf(steps, services);
  await remove(first);
  for (const step of releasing(steps))
    await run(step, async (document) => {
      documents.set(step, (await step.kind.release?.(write, document, step.fields)) ?? document);
      if (meter?.isOfEachStep === true) await meter.note(transaction, step);
    });
  const put = async (step: Step) => {
    if (step.action === 'change') return step.kind.update(write, documentOf(documents, step), step.fields);
    const made = await step.kind.create(write, step.fields);
    documents.set(step, made);
    ids.set(`${step.kind.scope} ${step.name}`, made.id);
  };
  await inBatches(puts, (step) => atPlace({ kind: step.kind.kind, name: step.name }, () => put(step)));
  await remove(last);
  await rename(transaction, call, steps, documents);
  await services.get(lockoutGuard).check(transaction, call);
  return new Map(steps.map((step) => [step, documentOf(documents, step).id]));
}

type Batches = readonly (readonly Step[])[];

/** Steps in the order in which they are carried out. */
export function orderOf(steps: readonly Step[], services: Services): readonly Step[] {
  const { first, puts, last } = phasesOf(steps, services);
  return [first, puts, last].flat(2);
}

function phasesOf(
  steps: readonly Step[],
  services: Services,
): { readonly first: Batches; readonly puts: Batches; readonly last: Batches } {
  const deletions = steps.filter(({ action }) => action === 'delete');
  const puts = steps.filter(({ action }) => action !== 'delete');
  const inReverse = inOrder(deletions, services).toReversed();
  return {
    first: batchesOf(deletions.filter(({ kind }) => kind.isDeletedFirst === true)),
    puts: batchesOf(inOrder(puts, services)),
    last: batchesOf(inReverse.filter(({ kind }) => kind.isDeletedFirst !== true)),
  };
}

/**
 * Resources of most kinds do not name each other, and so the order of their steps means nothing, unless they want the same:
 * the second to share a place must see the first.
 */
function batchesOf(steps: readonly Step[]): Batches {
  const batches = new Map<string, Step[]>();
  const rounds = new Map<string, number>();
  for (const [at, step] of steps.entries()) {
    const { kind, fields } = step;
    const claims = (kind.claims?.(fields) ?? []).map((claim) => `${kind.kind} ${claim}`);
    const round = claims.reduce((most, claim) => Math.max(most, rounds.get(claim) ?? 0), 0);
    for (const claim of claims) rounds.set(claim, round + 1);
    const key = `${kind.kind} ${kind.namesItsScope === true ? at : round}`;
    const batch = batches.get(key);
    if (batch === undefined) batches.set(key, [step]);
    else batch.push(step);
  }
  return [...batches.values()];
}

async function carryOutBatches(
  transaction: Transaction,
  batches: Batches,
  work: (step: Step) => Promise<void>,
  meter: QuotaMeter | undefined,
): Promise<void> {
  for (const batch of batches) {
    if (meter?.isOfEachStep !== true) {
      await transaction.forEach(batch, work);
      await meter?.noteTogether(transaction);
      continue;
    }
    for (const step of batch) {
      await work(step);
      await meter.note(transaction, step);
    }
  }
}

function namesOf({ named }: State): Map<string, string> {
  return new Map(named.map(({ scope, name, id }) => [`${scope} ${name}`, id]));
}

function entryWrite(transaction: Transaction, call: Call, ids: ReadonlyMap<string, string>): EntryWrite {
  return {
    transaction,
    // Headers of the answer are those of the whole configuration, and the guard looks at the end.
    call: { ...call, params: {}, allowLockout: true, ifMatch: undefined, setHeader: () => {} },
    idOf(scope, name) {
      const id = ids.get(`${scope} ${name}`);
      if (id === undefined) throw new UserError(unknownName, { noun: scope.replaceAll('_', ' '), name: quote(name) });
      return id;
    },
  };
}

function documentOf(documents: ReadonlyMap<Step, Stored>, step: Step): Stored {
  const document = documents.get(step);
  if (document === undefined) throw new Error(`${step.kind.kind} ${step.name} has no document`);
  return document;
}

/** Changes that leave a host name, port or the like to others, one of which wants it. */
function releasing(steps: readonly Step[]): readonly Step[] {
  const wanted = new Set<string>();
  for (const { kind, fields } of steps)
    if (kind.release !== undefined) for (const claim of kind.claims?.(fields) ?? []) wanted.add(claim);
  return steps.filter(
    ({ action, kind, entry, fields }) =>
      action === 'change' &&
      kind.release !== undefined &&
      claimsLeft(kind, entry?.fields ?? {}, fields).some((claim) => wanted.has(claim)),
  );
}

/** What others name comes before them: by kind, and among kinds that name their own scope by what each step names. */
function inOrder(steps: readonly Step[], services: Services): readonly Step[] {
  const kinds = services.all(configurationKinds);
  const order = new Map(
    kinds.map(({ kind, isCreatedFirst }, at) => [kind, isCreatedFirst === true ? at - kinds.length : at]),
  );
  // Entries that name each other, of whichever kind, come behind all others of their scope.
  for (const { kind, scope, namesItsScope } of kinds) {
    const last = kinds.findLastIndex((each) => each.scope === scope);
    if (namesItsScope === true) order.set(kind, last);
  }
  const depths = depthsOf(steps.filter(({ kind }) => kind.namesItsScope === true));
  const placeOf = (step: Step) => order.get(step.kind.kind) ?? 0;
  return steps.toSorted((a, b) => placeOf(a) - placeOf(b) || (depths.get(a) ?? 0) - (depths.get(b) ?? 0));
}

/** How many steps must come before each of these, one after another. */
function depthsOf(steps: readonly Step[]): ReadonlyMap<Step, number> {
  // A name may be that of one that goes, and of another that comes.
  const keyOf = ({ action }: Step, scope: string, name: string) => `${action === 'delete'} ${scope} ${name}`;
  const byName = new Map(steps.map((step) => [keyOf(step, step.kind.scope, step.name), step]));
  const depths = new Map<Step, number>();
  const measure = (step: Step): number => {
    const known = depths.get(step);
    if (known !== undefined) return known;
    // Entries that lead back to themselves are refused when they are written.
    depths.set(step, 0);
    const fields = step.action === 'delete' ? (step.entry?.fields ?? {}) : step.fields;
    const named = (step.kind.names?.(fields) ?? []).flatMap(
      ({ scope, name }) => byName.get(keyOf(step, scope, name)) ?? [],
    );
    const depth = named.reduce((most, each) => Math.max(most, 1 + measure(each)), 0);
    depths.set(step, depth);
    return depth;
  };
  for (const step of steps) measure(step);
  return depths;
}

async function rename(
  transaction: Transaction,
  call: Call,
  steps: readonly Step[],
  documents: ReadonlyMap<Step, Stored>,
): Promise<void> {
  const gone = steps.flatMap(({ action, entry }) => (action === 'delete' && entry ? [entry.document.id] : []));
  const fresh = steps.flatMap((step): NamedResource[] =>
    step.action === 'create' ? [{ scope: step.kind.scope, name: step.name, id: documentOf(documents, step).id }] : [],
  );
  await writeNames(transaction, call.caller.accountId, gone, fresh);
}
