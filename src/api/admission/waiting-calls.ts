import type { CallQueue, Refusal } from './call-queue.ts';

/** One call, from the time when it could begin until nothing is done for it any more. */
export class QueuedCall {
  readonly begin: (refusal?: Refusal) => void;
  sinceMs = 0;
  /** The principal among whose calls in progress it is. */
  owner: PrincipalCalls | undefined;
  /** True if its client went away before its turn came: it is not carried out. */
  isAbandoned = false;
  hasWaited = false;
  #isWorking = false;
  readonly #queue: CallQueue;

  constructor(queue: CallQueue, begin: QueuedCall['begin']) {
    this.begin = begin;
    this.#queue = queue;
  }

  /** Keeps the place of the call until the work has ended, even if its client goes away before, and frees it then. */
  holdFor(work: Promise<unknown>): void {
    this.#isWorking = true;
    const end = () => {
      this.#isWorking = false;
      this.release();
    };
    work.then(end, end);
  }

  /** Frees the place of a call that was answered, or whose client went away. */
  release(): void {
    this.isAbandoned = true;
    if (!this.#isWorking) this.#queue.leave(this);
  }
}

export interface AccountCalls {
  readonly id: string;
  running: number;
  readonly principals: Map<string, PrincipalCalls>;
  /** Principals with calls that wait, in the order of their turns. */
  readonly waiting: Set<PrincipalCalls>;
}

export interface PrincipalCalls {
  readonly id: string;
  readonly account: AccountCalls;
  running: number;
  readonly waiting: QueuedCall[];
  /** Calls that began since then while others waited; undefined while none waits. */
  counted: { sinceMs: number; calls: number } | undefined;
  /** Mean time between such calls, from which the wait of a new one follows; 0 while it is not known. */
  intervalMs: number;
}

/** Principals that are kept though they have no calls: making one at each call costs more than the rest of a turn. */
const keptPrincipals = 1_000;

/** The calls of principals, by account. Beyond a number of them, principals without calls are dropped. */
export class CallsByAccount {
  readonly #accounts = new Map<string, AccountCalls>();
  #count = 0;

  /** Undefined for a principal that has had no call. */
  find(accountId: string, principalId: string): PrincipalCalls | undefined {
    return this.#accounts.get(accountId)?.principals.get(principalId);
  }

  open(accountId: string, principalId: string): PrincipalCalls {
    let account = this.#accounts.get(accountId);
    if (account === undefined) {
      account = { id: accountId, running: 0, principals: new Map(), waiting: new Set() };
      this.#accounts.set(accountId, account);
    }
    let principal = account.principals.get(principalId);
    if (principal === undefined) {
      principal = { id: principalId, account, running: 0, waiting: [], counted: undefined, intervalMs: 0 };
      account.principals.set(principalId, principal);
      this.#count += 1;
    }
    return principal;
  }

  /** Drops a principal without calls where there are too many, and its account with the last of them. */
  forget({ id, account, running, waiting }: PrincipalCalls): void {
    if (this.#count <= keptPrincipals || running > 0 || waiting.length > 0) return;
    if (account.principals.delete(id)) this.#count -= 1;
    if (account.principals.size === 0) this.#accounts.delete(account.id);
  }
}

/** Takes the one whose turn it is. */
export function takeFirst<Member>(members: Set<Member>): Member | undefined {
  for (const member of members) {
    members.delete(member);
    return member;
  }
  return undefined;
}
