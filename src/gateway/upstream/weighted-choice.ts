/**
 * Draws one of several by weight in constant time, however many there are (the alias method of Walker and Vose). Each column
 * holds one of them up to its limit, and another one above it.
 */
export class WeightedChoice<Id = string> {
  readonly #ids: readonly Id[];
  readonly #limits: number[];
  readonly #aliases: number[];

  constructor(weights: readonly { readonly id: Id; readonly weight: number }[]) {
    const drawn = weights.filter(({ weight }) => weight > 0);
    const sum = drawn.reduce((total, { weight }) => total + weight, 0);
    this.#ids = drawn.map(({ id }) => id);
    this.#limits = drawn.map(({ weight }) => (weight * drawn.length) / sum);
    this.#aliases = drawn.map((_, at) => at);
    const columns = [...this.#limits.keys()];
    const small = columns.filter((at) => this.#limit(at) < 1);
    const large = columns.filter((at) => this.#limit(at) >= 1);
    while (small.length > 0 && large.length > 0) {
      const [less, more] = [small.pop() ?? 0, large.pop() ?? 0];
      this.#aliases[less] = more;
      this.#limits[more] = this.#limit(more) - (1 - this.#limit(less));
      (this.#limit(more) < 1 ? small : large).push(more);
    }
    // Sums of fractions are not exact: what is left over is a whole column.
    for (const at of [...small, ...large]) this.#limits[at] = 1;
  }

  /** `random` is from 0 to below 1. Undefined if no weight is above 0. */
  draw(random: number): Id | undefined {
    const place = random * this.#ids.length;
    const column = Math.floor(place);
    return this.#ids[place - column < this.#limit(column) ? column : (this.#aliases[column] ?? column)];
  }

  #limit(column: number): number {
    return this.#limits[column] ?? 1;
  }
}
