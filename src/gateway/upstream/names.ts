import { lookup as lookupName } from 'node:dns';
import type { LookupAddress, LookupOptions } from 'node:dns';
import type { LookupFunction } from 'node:net';

import { BoundedCache } from '../../lib/bounded-cache.ts';
import { FairQueue } from '../../lib/fair-queue.ts';
import { nextTurn } from '../../lib/next-turn.ts';
import { SharedCache } from '../../lib/shared-cache.ts';

/** Somebody who waits for the addresses of a name. */
export interface NameUser {
  readonly accountId: string;
  /** The question's turn has come: from now on it waits for the name alone, not for other accounts. */
  begun(): void;
  done(error: NodeJS.ErrnoException | null, addresses: readonly LookupAddress[]): void;
}

interface Question {
  readonly accountId: string;
  readonly name: string;
  readonly options: LookupOptions;
  readonly users: Set<NameUser>;
}

interface UnderWay {
  readonly accountId: string;
  readonly beganMs: number;
  /** The account has had a slow one lately. */
  readonly isSuspect: boolean;
  readonly users: Set<NameUser>;
}

interface Found {
  readonly addresses: readonly LookupAddress[];
  readonly atMs: number;
}

/** Lookups under way. Each keeps a thread until the resolver answers, and Node lets them have two of the usual four. */
const places = 2;
/** A lookup that takes longer is slow. Nothing can end it. */
const slowMs = 1_000;
/** Accounts with a slow lookup have one place together for so long. */
const suspectMs = 60_000;
const knownAccounts = 10_000;
/** What was found serves for so long. */
const freshMs = 1_000;
/** Addresses of a name that are used, and those of all names that are kept. */
const mostAddresses = 64;
const keptAddresses = 10_000;
/** Users who are told in one turn: each begins a connection. */
const toldAtOnce = 16;

/**
 * Looks up names by turns between accounts, one at a time for each. The account whose name servers are silent keeps one place for
 * as long as the resolver waits, and all such accounts together keep one.
 */
export class Names {
  readonly #resolve: LookupFunction;
  readonly #found = new SharedCache<Found>(keptAddresses);
  readonly #waiting = new FairQueue<Question>();
  /** Questions that wait, by account and name. */
  readonly #questions = new Map<string, Question>();
  /** By name. */
  readonly #underWay = new Map<string, UnderWay>();
  /** Until when accounts are suspect, as values of `performance.now()`. */
  readonly #suspectUntil = new BoundedCache<string, number>(knownAccounts);

  /** Default: the system's resolver. */
  constructor(resolve: LookupFunction = lookupName) {
    this.#resolve = resolve;
  }

  find(name: string, options: LookupOptions, user: NameUser): void {
    const { accountId } = user;
    const found = this.#found.get(accountId, name);
    if (found !== undefined && performance.now() - found.atMs < freshMs) {
      user.begun();
      queueMicrotask(() => user.done(null, found.addresses));
      return;
    }
    const underWay = this.#underWay.get(name);
    if (underWay !== undefined) {
      join(underWay, [user]);
      return;
    }
    const key = keyOf(accountId, name);
    const question = this.#questions.get(key);
    if (question !== undefined) {
      question.users.add(user);
      return;
    }
    const asked = { accountId, name, options, users: new Set([user]) };
    this.#questions.set(key, asked);
    this.#waiting.push(accountId, asked);
    this.#serve();
  }

  /** Waits no more. A name that nobody waits for leaves the queue. */
  leave(name: string, user: NameUser): void {
    const { accountId } = user;
    this.#underWay.get(name)?.users.delete(user);
    const key = keyOf(accountId, name);
    const question = this.#questions.get(key);
    if (question?.users.delete(user) !== true || question.users.size > 0) return;
    this.#questions.delete(key);
    this.#waiting.delete(accountId, question);
  }

  #serve(): void {
    while (this.#underWay.size < places) {
      const question = this.#waiting.take((accountId) => this.#mayBegin(accountId));
      if (question === undefined) return;
      this.#questions.delete(keyOf(question.accountId, question.name));
      const underWay = this.#underWay.get(question.name);
      if (underWay === undefined) this.#begin(question);
      else join(underWay, question.users);
    }
  }

  #mayBegin(accountId: string): boolean {
    const nowMs = performance.now();
    const isSuspect = this.#isSuspect(accountId, nowMs);
    for (const each of this.#underWay.values()) {
      if (each.accountId === accountId) return false;
      if (isSuspect && (each.isSuspect || nowMs - each.beganMs > slowMs)) return false;
    }
    return true;
  }

  #begin({ accountId, name, options, users }: Question): void {
    const beganMs = performance.now();
    const underWay = { accountId, beganMs, isSuspect: this.#isSuspect(accountId, beganMs), users: new Set<NameUser>() };
    this.#underWay.set(name, underWay);
    join(underWay, users);
    this.#resolve(name, { ...options, all: true }, (error, found) => {
      this.#underWay.delete(name);
      const atMs = performance.now();
      if (atMs - beganMs > slowMs) this.#suspectUntil.set(accountId, atMs + suspectMs);
      // With `all` the resolver answers a list.
      const addresses = error === null ? (found as LookupAddress[]).slice(0, mostAddresses) : [];
      if (addresses.length > 0) this.#found.set(accountId, name, { addresses, atMs }, addresses.length);
      void tell(underWay.users, error, addresses);
      this.#serve();
    });
  }

  #isSuspect(accountId: string, nowMs: number): boolean {
    return nowMs < (this.#suspectUntil.get(accountId) ?? 0);
  }
}

function keyOf(accountId: string, name: string): string {
  return `${accountId} ${name}`;
}

function join(underWay: UnderWay, users: Iterable<NameUser>): void {
  for (const user of users) {
    underWay.users.add(user);
    user.begun();
  }
}

async function tell(
  users: ReadonlySet<NameUser>,
  error: NodeJS.ErrnoException | null,
  addresses: readonly LookupAddress[],
): Promise<void> {
  let told = 0;
  for (const user of users) {
    if (told === toldAtOnce) {
      told = 0;
      await nextTurn();
    }
    told += 1;
    user.done(error, addresses);
  }
}
