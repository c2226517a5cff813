/** Something that knows where it is kept. */
interface Placed {
  /** Whoever keeps it sets this. */
  place: number;
}

/**
 * The open connections of one edge. Not a `Set`: each table that a set outgrows points to the next one, so that from
 * the first of them that is old enough all later ones, and every connection in them, wait for a full collection.
 */
export class OpenConnections<Connection extends Placed> {
  readonly #all: Connection[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(connection: Connection): void {
    connection.place = this.#all.push(connection) - 1;
  }

  /** To be called once, for one that is in it. */
  delete(connection: Connection): void {
    const last = this.#all.pop();
    if (last === undefined || last === connection) return;
    this.#all[connection.place] = last;
    last.place = connection.place;
  }

  /** From the last to the first, so that the one at hand may be deleted. */
  *[Symbol.iterator](): Generator<Connection> {
    for (let at = this.#all.length - 1; at >= 0; at--) {
      const connection = this.#all[at];
      if (connection !== undefined) yield connection;
    }
  }
}
