/** Decisions of one account in a file, as a table of SQL. */
export interface Part {
  readonly table: string;
  readonly firstNumber: number;
  readonly minAtMs: number;
  readonly maxAtMs: number;
  /** Undefined: they have not been counted. */
  readonly rows?: number | undefined;
}

/** A closed part: its decisions are never changed. */
export interface ClosedPart extends Part {
  readonly accountId: string;
  readonly path: string;
  readonly lastNumber: number;
  readonly bytes: number;
}

/** Counts of the decisions of one or more closed parts, in a file. */
export interface Summary {
  readonly path: string;
  readonly firstNumber: number;
  readonly lastNumber: number;
  readonly minAtMs: number;
  readonly maxAtMs: number;
  /** False: there were too many edges, routes and others, so that it has counts of all together only. */
  readonly hasEach: boolean;
  readonly bytes: number;
}

/** Whatever the store has of an account, newest first. */
export interface Parts {
  readonly open: Part | undefined;
  readonly closed: readonly ClosedPart[];
  /** Counts by the minute of a closed part, by its first number. */
  readonly minutes: ReadonlyMap<number, Summary>;
  /** Counts by the hour; each is of several closed parts. */
  readonly hours: readonly Summary[];
  readonly beganMs: number;
  /** Decisions of the account from here on have not been removed. */
  readonly keptFromMs: number;
}
