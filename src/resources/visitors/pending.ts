interface Told {
  readonly id: string;
  readonly accountId: string;
}

/** What gateways have told of sessions and is not written yet, with a share for each account. */
export class Pending<Event extends Told> {
  readonly #ofEachAccount: number;
  readonly #events = new Map<string, Event>();
  readonly #counts = new Map<string, number>();

  constructor(ofEachAccount: number) {
    this.#ofEachAccount = ofEachAccount;
  }

  get size(): number {
    return this.#events.size;
  }

  has(id: string): boolean {
    return this.#events.has(id);
  }

  /** Takes the place of an earlier event of the same session. False: the account has too many, and the event is not kept. */
  add(event: Event): boolean {
    const { id, accountId } = event;
    const count = this.#counts.get(accountId) ?? 0;
    if (!this.#events.has(id)) {
      if (count >= this.#ofEachAccount) return false;
      this.#counts.set(accountId, count + 1);
    }
    this.#events.set(id, event);
    return true;
  }

  /** Takes the oldest, at most so many. */
  take(most: number): readonly Event[] {
    const taken: Event[] = [];
    for (const [id, event] of this.#events) {
      if (taken.length >= most) break;
      this.#events.delete(id);
      const left = (this.#counts.get(event.accountId) ?? 1) - 1;
      if (left === 0) this.#counts.delete(event.accountId);
      else this.#counts.set(event.accountId, left);
      taken.push(event);
    }
    return taken;
  }
}
