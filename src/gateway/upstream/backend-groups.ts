import type { BackendGroupEntry, SnapshotUpdate } from '../../snapshot/contract.ts';
import { FixedAnswer } from './fixed-answer.ts';
import { WeightedChoice } from './weighted-choice.ts';

interface Group {
  readonly entry: BackendGroupEntry;
  /** Undefined for one whose members are tried in order. */
  readonly weights: WeightedChoice | undefined;
}

/** Most backends that are tried for one request or connection. */
const mostTried = 16;
/** Groups that are looked at for it: many ways may lead through few. */
const mostGroups = 64;
/** Time for which a member that could not be reached is tried behind the others; then one request tries it again. */
const avoidedMs = 5000;

/** Backends that are no upstream of their own: groups of others, and fixed answers. */
export class BackendGroups {
  readonly #isDown: (id: string) => boolean;
  readonly #now: () => number;
  readonly #groups = new Map<string, Group>();
  readonly #answers = new Map<string, FixedAnswer>();
  /** Ends of the times for which backends are avoided. */
  readonly #avoided = new Map<string, number>();

  /** `isDown` tells that no address of a backend answers, as far as is known. */
  constructor(isDown: (id: string) => boolean = () => false, now: () => number = () => performance.now()) {
    this.#isDown = isDown;
    this.#now = now;
  }

  prepare(update: SnapshotUpdate): () => void {
    const groups = update.set.flatMap((entry) => (entry.kind === 'backend_group' ? [toGroup(entry)] : []));
    const answers = update.set.flatMap((entry) => (entry.kind === 'fixed_answer' ? [new FixedAnswer(entry)] : []));
    return () => {
      if (update.full) {
        this.#groups.clear();
        this.#answers.clear();
        this.#avoided.clear();
      }
      for (const { kind, id } of update.removed) {
        if (kind === 'backend_group') this.#groups.delete(id);
        if (kind === 'fixed_answer') this.#answers.delete(id);
        this.#avoided.delete(id);
      }
      for (const group of groups) this.#groups.set(group.entry.id, group);
      for (const answer of answers) this.#answers.set(answer.id, answer);
    };
  }

  answer(id: string): FixedAnswer | undefined {
    return this.#answers.get(id);
  }

  has(id: string): boolean {
    return this.#groups.has(id);
  }

  /** Ids of backends that are no groups, in the order in which they are to be tried. Undefined: the id is no group's. */
  candidates(id: string): readonly string[] | undefined {
    if (!this.#groups.has(id)) return undefined;
    const found = new Set<string>();
    this.#collect(id, found, new Set());
    if (found.size < 2) return [...found];
    return this.#downLast(this.#avoided.size === 0 ? [...found] : this.#avoidedLast([...found]));
  }

  /** A backend of a group could not be reached. */
  failed(id: string): void {
    this.#avoided.set(id, this.#now() + avoidedMs);
  }

  reached(id: string): void {
    this.#avoided.delete(id);
  }

  #collect(id: string, found: Set<string>, seen: Set<string>): void {
    const group = this.#groups.get(id);
    if (found.size >= mostTried) return;
    if (group === undefined) {
      found.add(id);
      return;
    }
    if (seen.has(id) || seen.size >= mostGroups) return;
    seen.add(id);
    const { entry, weights } = group;
    if (weights === undefined) {
      for (const member of entry.members) this.#collect(member.id, found, seen);
      return;
    }
    const drawn = weights.draw(Math.random());
    if (drawn !== undefined) this.#collect(drawn, found, seen);
  }

  /** Members that are down are left for when all others have failed. */
  #downLast(ids: readonly string[]): readonly string[] {
    if (!ids.some(this.#isDown)) return ids;
    return [...ids.filter((id) => !this.#isDown(id)), ...ids.filter(this.#isDown)];
  }

  #avoidedLast(ids: readonly string[]): readonly string[] {
    const now = this.#now();
    const { last = [], first = [] } = Object.groupBy(ids, (id) =>
      (this.#avoided.get(id) ?? 0) > now ? 'last' : 'first',
    );
    const [chosen] = first;
    // Nobody else waits for the one that tries it.
    if (chosen !== undefined && this.#avoided.has(chosen)) this.failed(chosen);
    return [...first, ...last];
  }
}

function toGroup(entry: BackendGroupEntry): Group {
  return { entry, weights: entry.choice === 'weighted' ? new WeightedChoice(entry.members) : undefined };
}
