import type { QueuedCall } from './queued-call.ts';

export interface Account {
  readonly id: string;
  running: number;
  readonly lanes: Map<string, Lane>;
  /** Lanes with calls that wait, in the order of their turns. */
  readonly ring: Lane[];
  /** It is in the ring of accounts, or is served now. */
  isInRing: boolean;
}

/** The calls of one principal. */
export interface Lane {
  readonly id: string;
  readonly account: Account;
  running: number;
  readonly waiting: QueuedCall[];
  /** It is in the ring of its account, or is served now. */
  isInRing: boolean;
  /** Calls that began since then while others waited; undefined while none waits. */
  counted: { sinceMs: number; calls: number } | undefined;
  /** Mean time between such calls, by which the wait of a new one is foreseen; 0 while it is not known. */
  intervalMs: number;
}

/** Lanes that are kept though they have no calls: making one at each call costs more than the rest of a turn. */
const keptLanes = 1_000;

/** The lanes of principals, by account. Beyond a number of them, those without calls are dropped. */
export class CallLanes {
  readonly #accounts = new Map<string, Account>();
  #count = 0;

  /** Undefined for a principal that has had no call. */
  find(accountId: string, principalId: string): Lane | undefined {
    return this.#accounts.get(accountId)?.lanes.get(principalId);
  }

  open(accountId: string, principalId: string): Lane {
    let account = this.#accounts.get(accountId);
    if (account === undefined) {
      account = { id: accountId, running: 0, lanes: new Map(), ring: [], isInRing: false };
      this.#accounts.set(accountId, account);
    }
    let lane = account.lanes.get(principalId);
    if (lane === undefined) {
      lane = {
        id: principalId,
        account,
        running: 0,
        waiting: [],
        isInRing: false,
        counted: undefined,
        intervalMs: 0,
      };
      account.lanes.set(principalId, lane);
      this.#count += 1;
    }
    return lane;
  }

  /** Drops a lane without calls where there are too many, and its account with the last of them. */
  forget({ id, account, running, waiting }: Lane): void {
    if (this.#count <= keptLanes || running > 0 || waiting.length > 0) return;
    if (account.lanes.delete(id)) this.#count -= 1;
    if (account.lanes.size === 0) this.#accounts.delete(account.id);
  }
}

/** Without effect for a member that is in it. */
export function putInRing<Member extends { isInRing: boolean }>(ring: Member[], member: Member): void {
  if (member.isInRing) return;
  member.isInRing = true;
  ring.push(member);
}
