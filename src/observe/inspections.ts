import type { InspectedRequest, InspectionTerms } from '../gateway/engine.ts';
import { EndedInspections } from './ended-inspections.ts';
import { longestInspectionMs, mostOfAccount, readReply } from './inspection-messages.ts';
import type { InspectionReply, KnownInspection, RequestsWanted, SharedInspections } from './inspection-messages.ts';

export type { InspectedMessage, InspectedRequest, ReplayOutcome, ReplayRequest } from '../gateway/engine.ts';

/** Requests of one route, edge or endpoint that are recorded for a while. */
export interface Inspection extends InspectionTerms {
  readonly startedAtMs: number;
  /** Who has begun it. */
  readonly startedBy: string;
  /** Newest first. */
  readonly requests: readonly NumberedRequest[];
  /** Requests that were too many at once to be recorded. */
  readonly leftOut: number;
}

/** Requests of one inspection have growing numbers in a process, by which it is asked for newer ones. */
interface NumberedRequest extends InspectedRequest {
  readonly number: number;
}

interface Kept extends Inspection {
  requests: NumberedRequest[];
  leftOut: number;
  bytes: number;
  numbers: number;
}

const mostOfAll = 50;
const mostRequests = 100;
/** Memory of what one inspection has recorded. */
const mostBytes = 1024 * 1024;
/** Memory of a request beside its texts; a character takes two bytes at most. */
const ownBytes = 1024;

/**
 * What is inspected, and what was recorded by this process: in memory only, and gone at the end of each inspection. Processes tell each
 * other what they know (`share`, `learn`), in any order and as often as they like.
 */
export class Inspections {
  readonly #byId = new Map<string, Kept>();
  readonly #ended = new EndedInspections();
  readonly #timers = new Map<string, NodeJS.Timeout>();
  #tell: (terms: readonly InspectionTerms[]) => void = () => {};

  /** `tell` is told of all that are under way, now and whenever it changes. */
  to(tell: (terms: readonly InspectionTerms[]) => void): void {
    this.#tell = tell;
    this.#told();
  }

  /**
   * Undefined if all accounts together have too many. One of the same thing takes the place of the one before, and one
   * more than an account may have that of its oldest.
   */
  start(terms: InspectionTerms, startedBy: string): Inspection | undefined {
    const started = this.#add({ ...terms, startedAtMs: Date.now(), startedBy });
    if (started !== undefined) this.#settle(terms.accountId);
    return started;
  }

  /** Oldest first. */
  ofAccount(accountId: string): readonly Inspection[] {
    return this.#ofAccount(accountId);
  }

  find(accountId: string, id: string): Inspection | undefined {
    return this.ofAccount(accountId).find((each) => each.id === id);
  }

  /** Ends one and forgets what it has recorded. False if there is none. */
  end(accountId: string, id: string): boolean {
    if (this.find(accountId, id) === undefined) return false;
    this.#end(id);
    this.#told();
    return true;
  }

  /** Accounts that have inspections. */
  accounts(): ReadonlySet<string> {
    return new Set([...this.#byId.values()].map(({ accountId }) => accountId));
  }

  /** What others are told. */
  share(accountId: string): SharedInspections {
    const nowMs = Date.now();
    const known = this.ofAccount(accountId).map(
      ({ id, subjectId, startedBy, startedAtMs, endsAtMs, requests, leftOut }): KnownInspection => ({
        id,
        subjectId,
        startedBy,
        // Clocks of machines differ.
        ageMs: within(nowMs - startedAtMs),
        leftMs: within(endsAtMs - nowMs),
        recorded: requests.length,
        leftOut,
      }),
    );
    return { known, ended: this.#ended.of(accountId) };
  }

  /** Takes what another process knows. Both then know the same, whichever was told first. */
  learn(accountId: string, { known, ended }: SharedInspections): void {
    const nowMs = Date.now();
    let hasChanged = false;
    for (const id of ended) {
      if (this.find(accountId, id) !== undefined) hasChanged = true;
      // Also one that it has not heard of yet.
      this.#end(id, accountId);
    }
    for (const { id, subjectId, startedBy, ageMs, leftMs } of known) {
      if (this.#byId.has(id) || this.#ended.has(id)) continue;
      const terms = { id, accountId, subjectId, startedBy, startedAtMs: nowMs - ageMs, endsAtMs: nowMs + leftMs };
      if (this.#add(terms) !== undefined) hasChanged = true;
    }
    if (hasChanged) this.#settle(accountId);
  }

  /** What another process that asks gets: what this one knows, and the requests that are wanted, as it has recorded them. */
  reply(accountId: string, of?: RequestsWanted): InspectionReply {
    const requests = (of && this.find(accountId, of.id)?.requests) ?? [];
    const newest = Math.max(0, ...requests.map(({ number }) => number));
    // A process that was started anew counts from the beginning.
    const after = of === undefined || newest < of.after ? 0 : of.after;
    const isWanted = ({ id, number }: NumberedRequest): boolean =>
      number > after && (of?.requestId === undefined || id === of.requestId);
    return { ...this.share(accountId), requests: requests.filter(isWanted), newest };
  }

  /** Takes the reply of another process, and returns it. Throws over what it cannot read. */
  hear(accountId: string, reply: unknown): InspectionReply {
    const read = readReply(accountId, reply);
    this.learn(accountId, read);
    return read;
  }

  inspected(given: InspectedRequest): void {
    const kept = this.#byId.get(given.inspectionId);
    if (kept === undefined || kept.accountId !== given.accountId) return;
    // Its texts may be parts of longer ones, which would stay in memory with them.
    const request = { ...structuredClone(given), number: ++kept.numbers };
    kept.leftOut += request.leftOut;
    // Workers tell of theirs each in its own time.
    const older = kept.requests.findIndex(({ atMs }) => atMs <= request.atMs);
    kept.requests.splice(older < 0 ? kept.requests.length : older, 0, request);
    kept.bytes += sizeOf(request);
    while (kept.requests.length > mostRequests || (kept.bytes > mostBytes && kept.requests.length > 1)) {
      const oldest = kept.requests.pop();
      if (oldest !== undefined) kept.bytes -= sizeOf(oldest);
    }
  }

  /** In the order of their ids, which is that in which they were made, and the same in every process. */
  #ofAccount(accountId: string): Kept[] {
    const nowMs = Date.now();
    return [...this.#byId.values()]
      .filter((each) => each.accountId === accountId && nowMs < each.endsAtMs)
      .toSorted((a, b) => (a.id < b.id ? -1 : 1));
  }

  /** Undefined if there are too many. Of an account whose own take its place there is always room for one. */
  #add(given: InspectionTerms & Pick<Inspection, 'startedAtMs' | 'startedBy'>): Inspection | undefined {
    const own = this.#ofAccount(given.accountId);
    const makesRoom = own.length >= mostOfAccount || own.some(({ subjectId }) => subjectId === given.subjectId);
    if (this.#byId.size >= mostOfAll && !makesRoom) return undefined;
    const added: Kept = { ...given, requests: [], leftOut: 0, bytes: 0, numbers: 0 };
    this.#byId.set(given.id, added);
    const over = (): void => {
      this.#end(given.id);
      this.#told();
    };
    this.#timers.set(given.id, setTimeout(over, given.endsAtMs - Date.now()).unref());
    return added;
  }

  /** Ends those whose place others have taken: of each thing the newest stays, and of an account so many. */
  #settle(accountId: string): void {
    const own = this.#ofAccount(accountId).toReversed();
    const seen = new Set<string>();
    for (const { id, subjectId } of own)
      if (seen.has(subjectId) || seen.size >= mostOfAccount) this.#end(id);
      else seen.add(subjectId);
    this.#told();
  }

  /** `accountId` where it may be one that was never heard of. */
  #end(id: string, accountId = this.#byId.get(id)?.accountId): void {
    if (accountId === undefined) return;
    this.#ended.add(id, accountId);
    const kept = this.#byId.get(id);
    if (kept === undefined || kept.accountId !== accountId) return;
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.#byId.delete(id);
  }

  #told(): void {
    this.#tell(
      [...this.#byId.values()].map(({ id, accountId, subjectId, endsAtMs }) => ({
        id,
        accountId,
        subjectId,
        endsAtMs,
      })),
    );
  }
}

/** A clock that was set makes no inspection longer than one may be. */
function within(ms: number): number {
  return Math.min(Math.max(0, ms), longestInspectionMs);
}

function sizeOf({ target, host, request, answer }: InspectedRequest): number {
  const texts = [target, host, ...request.headers, request.body ?? '', ...(answer?.headers ?? []), answer?.body ?? ''];
  return texts.reduce((sum, text) => sum + 2 * text.length, ownBytes);
}
