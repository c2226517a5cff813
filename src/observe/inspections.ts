import type { InspectedRequest, InspectionTerms } from '../gateway/engine.ts';

export type { InspectedMessage, InspectedRequest } from '../gateway/engine.ts';

/** Requests of one route, edge or endpoint that are recorded for a while. */
export interface Inspection extends InspectionTerms {
  readonly startedAtMs: number;
  /** Who has begun it. */
  readonly startedBy: string;
  /** Newest first. */
  readonly requests: readonly InspectedRequest[];
  /** Requests that were too many at once to be recorded. */
  readonly leftOut: number;
}

interface Kept extends Inspection {
  requests: InspectedRequest[];
  leftOut: number;
  bytes: number;
}

export const mostOfAccount = 5;
const mostOfAll = 50;
const mostRequests = 100;
/** Memory of what one inspection has recorded. */
const mostBytes = 1024 * 1024;
/** Memory of a request beside its texts; a character takes two bytes at most. */
const ownBytes = 1024;

/** What is inspected through this process, and what was recorded: in memory only, and gone at the end of each inspection. */
export class Inspections {
  readonly #byId = new Map<string, Kept>();
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
    const { accountId, subjectId } = terms;
    const own = this.ofAccount(accountId);
    const oldest = own.length >= mostOfAccount ? own[0] : undefined;
    const before = own.find((each) => each.subjectId === subjectId) ?? oldest;
    if (before === undefined && this.#byId.size >= mostOfAll) return undefined;
    if (before !== undefined) this.#end(before.id);
    const started: Kept = { ...terms, startedAtMs: Date.now(), startedBy, requests: [], leftOut: 0, bytes: 0 };
    this.#byId.set(terms.id, started);
    const end = (): void => this.#end(terms.id);
    this.#timers.set(terms.id, setTimeout(end, terms.endsAtMs - started.startedAtMs).unref());
    this.#told();
    return started;
  }

  ofAccount(accountId: string): readonly Inspection[] {
    return [...this.#byId.values()].filter((each) => each.accountId === accountId && Date.now() < each.endsAtMs);
  }

  find(accountId: string, id: string): Inspection | undefined {
    return this.ofAccount(accountId).find((each) => each.id === id);
  }

  /** Ends one and forgets what it has recorded. False if there is none. */
  end(accountId: string, id: string): boolean {
    if (this.find(accountId, id) === undefined) return false;
    this.#end(id);
    return true;
  }

  inspected(given: InspectedRequest): void {
    const kept = this.#byId.get(given.inspectionId);
    if (kept === undefined || kept.accountId !== given.accountId) return;
    // Its texts may be parts of longer ones, which would stay in memory with them.
    const request = structuredClone(given);
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

  #end(id: string): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    if (this.#byId.delete(id)) this.#told();
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

function sizeOf({ target, host, request, answer }: InspectedRequest): number {
  const texts = [target, host, ...request.headers, request.body ?? '', ...(answer?.headers ?? []), answer?.body ?? ''];
  return texts.reduce((sum, text) => sum + 2 * text.length, ownBytes);
}
