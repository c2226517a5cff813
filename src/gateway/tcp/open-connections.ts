interface Indexed {
  /** Position in the list that holds it; set by the list. */
  index: number;
}

/**
 * The open connections of one edge. Not a `Set`: V8 keeps the old hash tables of a set linked until a major garbage
 * collection, which retains closed connections.
 */
export class OpenConnections<Connection extends Indexed> {
  readonly #all: Connection[] = [];

  get size(): number {
    return this.#all.length;
  }

  add(connection: Connection): void {
    connection.index = this.#all.push(connection) - 1;
  }

  /** Must be called once only, for a connection that is in the list. */
  delete(connection: Connection): void {
    const last = this.#all.pop();
    if (last === undefined || last === connection) return;
    this.#all[connection.index] = last;
    last.index = connection.index;
  }

  /** Runs from the last to the first, so that the loop may delete the connection it is at. */
  *[Symbol.iterator](): Generator<Connection> {
    for (let at = this.#all.length - 1; at >= 0; at--) {
      const connection = this.#all[at];
      if (connection !== undefined) yield connection;
    }
  }
}
