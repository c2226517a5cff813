import { CallsByAccount, takeFirst } from './waiting-calls.ts';
import type { AccountCalls, PrincipalCalls, QueuedCall } from './waiting-calls.ts';

/**
 * Why a call was not let in: all turns were taken, or its account, or its principal within the account, had as many calls
 * in progress as it may.
 */
export type Refusal = 'overloaded' | 'account_busy' | 'principal_busy';

interface CallQueueOptions {
  /** Calls of one account that are in progress at once. */
  readonly accountLimit: number;
  /** Calls of one principal that are in progress at once; fewer, so that it cannot shut out the others of its account. */
  readonly principalLimit: number;
  /** A call that would have to wait longer than this is refused. */
  readonly maxWaitMs: number;
  /** Called whenever the number of calls that wait has changed. */
  readonly onWaiting: (count: number) => void;
  /** The gateway in this process has clients: their traffic goes first. */
  readonly isBesideTraffic: () => boolean;
}

/**
 * Time that calls may take in one turn of the event loop before traffic through the gateway has its turn: as much as
 * everything else has taken, which under overload is mostly the refusal of calls, within these bounds.
 */
const shortestSliceMs = 2;
const longestSliceMs = 10;
/**
 * Calls that begin in one turn of the event loop beside traffic. A turn has to read as many, commit as many and answer as
 * many, so that traffic would wait for all that are in progress at once; but the fewer a commit has, the more each costs.
 */
const callsBesideTraffic = 8;
/** Time after which calls that wait are looked at again, and over which the pace of calls is measured. */
const watchMs = 50;
/** A call that was let in to wait is refused after so many times `maxWaitMs`, if those before it do not end. */
const lateFactor = 20;

/**
 * Lets calls in by turns between accounts, and within an account between its principals: the calls of one wait for each
 * other, not those of another. Accounts and principals have a limited number of calls in progress, and all together get a
 * slice of each turn of the event loop, so that the gateway in the same process has its turn in between. A call that would
 * have to wait too long is refused at once, and one that has waited too long behind calls in progress is refused then;
 * nothing was done for either.
 */
export class CallQueue {
  readonly #options: CallQueueOptions;
  readonly #calls = new CallsByAccount();
  /** Accounts with calls that wait, in the order of their turns. */
  readonly #accounts = new Set<AccountCalls>();
  #waiting = 0;
  #sliceMs = shortestSliceMs;
  #spentMs = 0;
  /** Calls that have begun since time was last counted from 0. */
  #begun = 0;
  #scheduledMs = 0;
  #isScheduled = false;
  #isWatched = false;

  constructor(options: CallQueueOptions) {
    this.#options = options;
  }

  /** The refusal that a call of this principal would get now, before it has waited; undefined if it would get none. */
  refusalFor(accountId: string, principalId: string): Refusal | undefined {
    const principal = this.#calls.find(accountId, principalId);
    return principal === undefined ? undefined : this.#refusalFor(principal);
  }

  /** Calls `begin` when the turn of the call has come, perhaps at once, with a refusal if it has not come in time. */
  enter(accountId: string, principalId: string, call: QueuedCall): void {
    const principal = this.#calls.open(accountId, principalId);
    const nowMs = performance.now();
    const refusal = this.#refusalFor(principal);
    if (refusal !== undefined) {
      call.begin(refusal);
    } else if (principal.waiting.length === 0 && this.#busyWith(principal) === undefined && this.#mayBegin) {
      this.#start(principal, call);
      this.#spend(nowMs);
    } else {
      call.sinceMs = nowMs;
      call.hasWaited = true;
      principal.waiting.push(call);
      principal.account.waiting.add(principal);
      this.#accounts.add(principal.account);
      this.#countWaiting(1);
      this.#schedule();
    }
  }

  /** Frees the place of a call in progress. */
  leave(call: QueuedCall): void {
    const { owner } = call;
    if (owner === undefined) return;
    call.owner = undefined;
    owner.running -= 1;
    owner.account.running -= 1;
    this.#calls.forget(owner);
    if (owner.account.waiting.size > 0) this.#schedule();
  }

  readonly #turn = (): void => {
    this.#isScheduled = false;
    const elapsedMs = performance.now() - this.#scheduledMs;
    this.#sliceMs = Math.min(longestSliceMs, Math.max(shortestSliceMs, elapsedMs));
    this.#spentMs = 0;
    this.#begun = 0;
    /** Accounts all of whose calls have to wait for calls in progress. */
    const full: AccountCalls[] = [];
    while (this.#accounts.size > 0 && this.#mayBegin) {
      const account = takeFirst(this.#accounts);
      if (account === undefined) break;
      const nowMs = performance.now();
      if (!this.#serveAccount(account, nowMs)) full.push(account);
      else if (account.waiting.size > 0) this.#accounts.add(account);
      this.#spend(nowMs);
    }
    if (this.#accounts.size > 0) this.#schedule();
    for (const account of full) this.#accounts.add(account);
    if (full.length > 0) this.#lookAgain();
  };

  /** Serves one call of the principal whose turn it is. Returns false if all of them have to wait for calls in progress. */
  #serveAccount({ waiting }: AccountCalls, nowMs: number): boolean {
    for (let left = waiting.size; left > 0; left--) {
      const principal = takeFirst(waiting);
      if (principal === undefined) break;
      const isServed = this.#serve(principal, nowMs);
      if (principal.waiting.length > 0) waiting.add(principal);
      else this.#calls.forget(principal);
      if (isServed) return true;
    }
    return false;
  }

  /** Serves the first call of a principal. Returns false if that has to wait for a call in progress. */
  #serve(principal: PrincipalCalls, nowMs: number): boolean {
    const [call] = principal.waiting;
    if (call === undefined) return true;
    const busyWith = this.#busyWith(principal);
    const isLate = busyWith !== undefined && nowMs - call.sinceMs > lateFactor * this.#options.maxWaitMs;
    if (!call.isAbandoned && !isLate && busyWith !== undefined) return false;
    principal.waiting.shift();
    this.#countWaiting(-1);
    if (principal.waiting.length === 0) {
      principal.counted = undefined;
      principal.intervalMs = 0;
    } else if (!call.isAbandoned && !isLate) {
      this.#count(principal, nowMs);
    }
    if (call.isAbandoned) return true;
    if (isLate) call.begin(busyWith);
    else this.#start(principal, call);
    return true;
  }

  /** Calls end in groups, by one commit, so that the time between them is a mean over many. */
  #count(principal: PrincipalCalls, nowMs: number): void {
    const counted = (principal.counted ??= { sinceMs: nowMs, calls: 0 });
    const elapsedMs = nowMs - counted.sinceMs;
    if (elapsedMs > watchMs) {
      principal.intervalMs = elapsedMs / counted.calls;
      principal.counted = { sinceMs: nowMs, calls: 1 };
    } else {
      counted.calls += 1;
    }
  }

  #start(principal: PrincipalCalls, call: QueuedCall): void {
    this.#begun += 1;
    call.owner = principal;
    principal.running += 1;
    principal.account.running += 1;
    call.begin();
  }

  #spend(sinceMs: number): void {
    this.#spentMs += performance.now() - sinceMs;
    // Time adds up over several turns of the loop until this one ends, so that few calls do not cost a turn each.
    if (this.#spentMs > shortestSliceMs / 2 || this.#begun > callsBesideTraffic / 2) this.#schedule();
  }

  /** False when traffic shall have its turn. */
  get #mayBegin(): boolean {
    if (this.#spentMs >= this.#sliceMs) return false;
    return this.#begun < callsBesideTraffic || !this.#options.isBesideTraffic();
  }

  #refusalFor(principal: PrincipalCalls): Refusal | undefined {
    const { length } = principal.waiting;
    const { accountLimit, maxWaitMs } = this.#options;
    // A client that makes no more than twice as many calls at once as may be in progress is not the cause of overload.
    if (length < accountLimit || length * principal.intervalMs <= maxWaitMs) return undefined;
    return this.#busyWith(principal) ?? 'overloaded';
  }

  /** The limit that calls in progress have reached; undefined where there is a place. */
  #busyWith({ running, account }: PrincipalCalls): 'account_busy' | 'principal_busy' | undefined {
    if (running >= this.#options.principalLimit) return 'principal_busy';
    return account.running >= this.#options.accountLimit ? 'account_busy' : undefined;
  }

  #schedule(): void {
    if (this.#isScheduled) return;
    this.#isScheduled = true;
    this.#scheduledMs = performance.now();
    setImmediate(this.#turn);
  }

  /** Calls behind those in progress may have to be refused before one of these has ended. */
  #lookAgain(): void {
    if (this.#isWatched) return;
    this.#isWatched = true;
    setTimeout(() => {
      this.#isWatched = false;
      this.#schedule();
    }, watchMs).unref();
  }

  #countWaiting(change: number): void {
    this.#waiting += change;
    this.#options.onWaiting(this.#waiting);
  }
}
