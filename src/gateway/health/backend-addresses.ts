import type { BackendEntry, BalanceEntry, StatusRange } from '../../snapshot/contract.ts';
import { WeightedChoice } from '../upstream/weighted-choice.ts';
import { hashText, mix } from './hash.ts';
import type { AddressState } from './health-board.ts';
import { formatAddress, Target } from './target.ts';

/** Facts that a choice may go by. */
export interface ChoiceFacts {
  source(): string;
  /** Undefined where there are no headers, or not this one. */
  header(name: string): string | undefined;
}

/** Share of its weight that an address has when it comes back. */
const firstShare = 0.1;
/** Steps of the golden ratio, after which any number of draws are spread evenly. */
const goldenStep = (Math.sqrt(5) - 1) / 2;

/** The addresses of one backend, and which of them is next. */
export class BackendAddresses {
  readonly id: string;
  readonly balance: BalanceEntry;
  readonly all: readonly Target[];
  readonly #now: () => number;
  /** Addresses with a weight. */
  readonly #members: Ring;
  #up: Ring;
  /** The earliest time at which one that is down may be tried. */
  #trialAtMs = Infinity;
  /** Until then some address has less than its whole share. */
  #warmUntilMs = -Infinity;

  constructor(entry: BackendEntry, balance: BalanceEntry, previous: BackendAddresses | undefined, now: () => number) {
    this.id = entry.id;
    this.balance = balance;
    this.#now = now;
    const known = new Map(previous?.all.map((target) => [target.address, target]));
    this.all = balance.addresses.map((address) => {
      const same = known.get(formatAddress(address));
      if (same?.tls !== entry.tls) return new Target(entry, address);
      // What is known of it stays, and so do its connections.
      same.weight = address.weight;
      return same;
    });
    this.#members = new Ring(this.all.filter(({ weight }) => weight > 0));
    this.#up = this.#members;
    this.#warmUntilMs = Math.max(...this.all.map(({ upAtMs }) => upAtMs)) + balance.slowStartMs;
    this.#sort();
  }

  /** True: none of them is known to answer. */
  get isDown(): boolean {
    return this.#up.targets.length === 0;
  }

  set(state: AddressState): void {
    const target = this.all.find(({ address }) => address === state.address);
    if (target === undefined) return;
    if (target.isDown && !state.isDown && this.balance.slowStartMs > 0) {
      target.upAtMs = this.#now();
      this.#warmUntilMs = target.upAtMs + this.balance.slowStartMs;
    }
    const isNews = state.isDown && !target.isDown;
    target.isDown = state.isDown;
    target.isFailing = state.isFailing;
    if (!state.isDown || state.trialMs === undefined) target.trialAtMs = Infinity;
    else if (isNews || target.trialAtMs === Infinity) target.trialAtMs = this.#now() + state.trialMs;
    this.#sort();
  }

  /** Undefined if there is none that has not been tried and may be; `isUp` leaves out those that are down in any case. */
  choose(facts: ChoiceFacts, tried: readonly Target[], isUp = false): Target | undefined {
    if (tried.length > 0) return this.#chooseOther(facts, tried, isUp);
    const now = this.#now();
    if (this.#trialAtMs <= now) {
      const trial = this.#takeTrial(now);
      if (trial !== undefined) return trial;
    }
    if (!this.isDown) return this.#pick(this.#up, facts, now);
    return this.balance.whenAllDown === 'fail_open' ? this.#pick(this.#members, facts, now) : undefined;
  }

  /** Whether an answer of the status counts as a failure of the address. */
  isFailure(status: number): boolean {
    const statuses = this.balance.passive?.statuses;
    return statuses !== undefined && statuses.length > 0 && inRanges(statuses, status);
  }

  #chooseOther(facts: ChoiceFacts, tried: readonly Target[], isUp: boolean): Target | undefined {
    const left = (ring: Ring): readonly Target[] => ring.targets.filter((target) => !tried.includes(target));
    const up = left(this.#up);
    const isStrict = isUp || this.balance.whenAllDown === 'fail_closed';
    const rest = up.length > 0 || isStrict ? up : left(this.#members);
    return rest.length === 0 ? undefined : this.#pick(new Ring(rest), facts, this.#now());
  }

  /** Returns an address whose trial is due. Others do not wait for the request that tries it. */
  #takeTrial(now: number): Target | undefined {
    const trial = this.#members.targets.find(({ trialAtMs }) => trialAtMs <= now);
    if (trial !== undefined) trial.trialAtMs = now + (this.balance.passive?.downMs ?? defaultDownMs);
    this.#trialAtMs = Math.min(...this.#members.targets.map(({ trialAtMs }) => trialAtMs));
    return trial;
  }

  #pick(ring: Ring, facts: ChoiceFacts, now: number): Target | undefined {
    if (ring.targets.length < 2) return ring.targets[0];
    const isWarm = now >= this.#warmUntilMs;
    switch (this.balance.by) {
      case 'round_robin': {
        const next = ring.next();
        return isWarm || next === undefined || Math.random() < this.#share(next, now) ? next : ring.next();
      }
      case 'least_connections': {
        const [one, other] = ring.two();
        return this.#load(other, now) < this.#load(one, now) ? other : one;
      }
      case 'header': {
        const { header = '' } = this.balance;
        return this.#highest(ring.targets, facts.header(header) ?? facts.source(), now);
      }
      default:
        return this.#highest(ring.targets, facts.source(), now);
    }
  }

  #highest(targets: readonly Target[], text: string, now: number): Target | undefined {
    const key = hashText(text);
    let best: Target | undefined;
    let bestScore = -Infinity;
    for (const target of targets) {
      const score = -(target.weight * this.#share(target, now)) / Math.log(mix(key, target.seed));
      if (score > bestScore) [best, bestScore] = [target, score];
    }
    return best;
  }

  #load(target: Target | undefined, now: number): number {
    return target === undefined ? Infinity : (target.inUse + 1) / (target.weight * this.#share(target, now));
  }

  /** Share of its weight that it has by now. */
  #share({ upAtMs }: Target, now: number): number {
    const { slowStartMs } = this.balance;
    return slowStartMs === 0 ? 1 : Math.min(1, Math.max(firstShare, (now - upAtMs) / slowStartMs));
  }

  #sort(): void {
    const { targets } = this.#members;
    const up = targets.filter(({ isDown }) => !isDown);
    this.#up = up.length === targets.length ? this.#members : new Ring(up);
    this.#trialAtMs = Math.min(Infinity, ...targets.map(({ trialAtMs }) => trialAtMs));
  }
}

/** Time for which an address is left out where the backend does not say. */
export const defaultDownMs = 5000;

export function inRanges(ranges: readonly StatusRange[], status: number): boolean {
  return ranges.some(([first, last]) => status >= first && status <= last);
}

/** Targets by their weights. */
class Ring {
  readonly targets: readonly Target[];
  /** Undefined where all have the same weight. */
  readonly #weights: WeightedChoice<Target> | undefined;
  /** Workers that begin together do not all begin with the first. */
  #at = Math.floor(Math.random() * 1024);

  constructor(targets: readonly Target[]) {
    this.targets = targets;
    const isEven = targets.every(({ weight }) => weight === targets[0]?.weight);
    this.#weights = isEven ? undefined : new WeightedChoice(targets.map((id) => ({ id, weight: id.weight })));
  }

  next(): Target | undefined {
    this.#at = (this.#at + 1) % 2 ** 30;
    if (this.#weights === undefined) return this.targets[this.#at % this.targets.length];
    return this.#weights.draw((this.#at * goldenStep) % 1);
  }

  /** Two draws; they differ where all have the same weight. */
  two(): readonly [Target | undefined, Target | undefined] {
    if (this.#weights !== undefined) return [this.#weights.draw(Math.random()), this.#weights.draw(Math.random())];
    const count = this.targets.length;
    const one = Math.floor(Math.random() * count);
    const other = (one + 1 + Math.floor(Math.random() * (count - 1))) % count;
    return [this.targets[one], this.targets[other]];
  }
}
