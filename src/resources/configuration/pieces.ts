import { Pace } from '../../lib/pace.ts';
import { claimOfId } from '../configuration-kind.ts';
import type { EntryFields } from '../configuration-kind.ts';
import { claimsLeft } from './claims-left.ts';
import type { Step } from './plan.ts';

/** Steps that one piece begins with: on a busy machine, carried out in some tens of milliseconds. */
const stepsAtOnce = 64;

/**
 * Cuts the steps of a plan into pieces that can be rehearsed one by one: each holds what its steps need, so that it meets
 * the faults that the plan as a whole would meet. A step may be in several pieces; the order is that of the plan.
 */
export async function piecesOf(
  steps: readonly Step[],
  isAbandoned: () => boolean,
): Promise<readonly (readonly Step[])[]> {
  if (steps.length <= stepsAtOnce) return [steps];
  const links = new Links(steps, await dependenciesOf(steps, isAbandoned));
  const pieces: (readonly Step[])[] = [];
  const rest = new Set(links.bySharedNeed(steps));
  const cut = (first: readonly Step[]) => {
    const piece = links.withNeeded(first);
    for (const step of piece) rest.delete(step);
    pieces.push(steps.length === piece.size ? steps : [...piece].toSorted((a, b) => links.place(a) - links.place(b)));
  };
  const decisive = steps.filter(decidesAccess);
  if (decisive.length > 0) cut(decisive);
  const pace = new Pace(isAbandoned);
  while (rest.size > 0) {
    cut([...rest.values().take(stepsAtOnce)]);
    if (pace.isDue) await pace.giveWay();
  }
  return pieces;
}

/** A new policy decides nothing until a restriction names it. */
function decidesAccess({ kind, action }: Step): boolean {
  return kind.decidesAccess === true && (action !== 'create' || kind.names !== undefined);
}

/** What each step depends on, now or before: to read a long policy takes a while. */
async function dependenciesOf(
  steps: readonly Step[],
  isAbandoned: () => boolean,
): Promise<ReadonlyMap<Step, ReadonlySet<string>>> {
  const found = new Map<Step, ReadonlySet<string>>();
  const pace = new Pace(isAbandoned);
  for (const step of steps) {
    const { kind, entry, fields } = step;
    if (kind.dependsOn === undefined) continue;
    const [now, before] = [await kind.dependsOn(fields), await kind.dependsOn(entry?.fields ?? {})];
    found.set(step, new Set([...now, ...before]));
    if (pace.isDue) await pace.giveWay();
  }
  return found;
}

/** Finds the steps that others cannot be carried out without. */
class Links {
  readonly #places: ReadonlyMap<Step, number>;
  readonly #created = new Map<string, Step>();
  readonly #byClaim = new Map<string, Step[]>();
  readonly #users = new Map<string, Step[]>();
  readonly #dependencies: ReadonlyMap<Step, ReadonlySet<string>>;
  readonly #dependents = new Map<string, Step[]>();

  constructor(steps: readonly Step[], dependencies: ReadonlyMap<Step, ReadonlySet<string>>) {
    this.#places = new Map(steps.map((step, at) => [step, at]));
    this.#dependencies = dependencies;
    for (const [step, claims] of dependencies) for (const claim of claims) addTo(this.#dependents, claim, step);
    for (const step of steps) {
      if (step.action === 'create') this.#created.set(nameOf(step), step);
      for (const claim of claimsOf(step)) addTo(this.#byClaim, claim, step);
      for (const name of namesBeforeAndAfter(step)) addTo(this.#users, name, step);
    }
  }

  place(step: Step): number {
    return this.#places.get(step) ?? 0;
  }

  /** Steps that need the same new resource, or share a claim, follow each other, so that few pieces have to have all of them. */
  bySharedNeed(steps: readonly Step[]): readonly Step[] {
    const needs = Map.groupBy(steps, (step) => {
      const created = namesIn(step, step.fields).find((name) => this.#created.has(name));
      const [claim = ''] = claimsOf(step);
      return created ?? `claim ${claim}`;
    });
    return [...needs.values()].flat();
  }

  withNeeded(first: readonly Step[]): ReadonlySet<Step> {
    const piece = new Set(first);
    // A set is walked to its end, also through what is added meanwhile.
    const seen = new Set<string>();
    for (const step of piece) for (const needed of this.#neededBy(step, seen)) piece.add(needed);
    return piece;
  }

  *#neededBy(step: Step, seen: Set<string>): Iterable<Step> {
    for (const name of namesIn(step, step.fields)) {
      const named = this.#created.get(name);
      if (named !== undefined) yield named;
    }
    for (const claims of [claimsOf(step), this.#dependencies.get(step) ?? []]) {
      for (const claim of claims) {
        // Very many may share one.
        if (seen.has(claim)) continue;
        seen.add(claim);
        yield* this.#byClaim.get(claim) ?? [];
      }
    }
    // Nothing is given up while others depend on it.
    for (const claim of givenUp(step)) yield* this.#dependents.get(claim) ?? [];
    // Nothing is deleted while others name it.
    if (step.action === 'delete') yield* this.#users.get(nameOf(step)) ?? [];
  }
}

function nameOf({ kind, name }: Pick<Step, 'kind' | 'name'>): string {
  return `${kind.scope} ${name}`;
}

function namesIn({ kind }: Step, fields: EntryFields): readonly string[] {
  return (kind.names?.(fields) ?? []).map(({ scope, name }) => `${scope} ${name}`);
}

function namesBeforeAndAfter(step: Step): ReadonlySet<string> {
  return new Set([...namesIn(step, step.fields), ...namesIn(step, step.entry?.fields ?? {})]);
}

function claimsOf({ kind, entry, fields }: Step): ReadonlySet<string> {
  return new Set([...(kind.claims?.(fields) ?? []), ...(kind.claims?.(entry?.fields ?? {}) ?? [])]);
}

function givenUp({ action, kind, entry, fields }: Step): readonly string[] {
  if (entry === undefined) return [];
  const left = claimsLeft(kind, entry.fields, fields);
  return action === 'delete' ? [...left, claimOfId(entry.document.id)] : left;
}

function addTo(lists: Map<string, Step[]>, key: string, step: Step): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [step]);
  else list.push(step);
}
