/** Longer than any inspection goes on. */
const rememberedMs = 3_700_000;
const mostOfAccount = 50;
const mostOfAll = 500;

/** Inspections that have ended here, so that another process which has not heard of it does not begin them again. */
export class EndedInspections {
  /** In the order in which they ended. */
  readonly #byId = new Map<string, { readonly accountId: string; readonly endedMs: number }>();

  add(id: string, accountId: string): void {
    if (this.has(id)) return;
    const own = this.of(accountId);
    const [oldestOfAll] = this.#byId.keys();
    const [oldestOfAccount] = own;
    if (own.length >= mostOfAccount && oldestOfAccount !== undefined) this.#byId.delete(oldestOfAccount);
    else if (this.#byId.size >= mostOfAll && oldestOfAll !== undefined) this.#byId.delete(oldestOfAll);
    this.#byId.set(id, { accountId, endedMs: performance.now() });
  }

  has(id: string): boolean {
    this.#forget();
    return this.#byId.has(id);
  }

  of(accountId: string): readonly string[] {
    this.#forget();
    return [...this.#byId].filter(([, each]) => each.accountId === accountId).map(([id]) => id);
  }

  #forget(): void {
    const nowMs = performance.now();
    for (const [id, { endedMs }] of this.#byId) {
      if (nowMs - endedMs < rememberedMs) return;
      this.#byId.delete(id);
    }
  }
}
