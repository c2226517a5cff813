/** The state of one bound, in one process. */
export interface BoundReport<Bound extends string = string> {
  readonly bound: Bound;
  readonly limit: number;
  /** How much of it is in use now: by whoever uses most. */
  readonly inUse: number;
  /** How often it has refused something since the report before. */
  readonly refused: number;
}

/** The errors that bounds stand for, by the names of the bounds. Undefined: those who are refused are told, and the log is not. */
type BoundErrors<Bound extends string> = Readonly<
  Record<Bound, { readonly code: number; readonly message: string } | undefined>
>;

interface Watched {
  readonly limit: () => number;
  readonly read: () => number;
  lastInUse: number;
  lastLimit: number;
  refused: number;
  /** Refused since the last line in the log. */
  unlogged: number;
  loggedAt: number;
}

const reportMs = 1000;
/** Shortest interval between two lines in the log about one bound. */
const logMs = 60_000;

/**
 * Tells of bounds that are reached: the log at most once a minute for each, the observer once a second. A flood of refusals
 * costs a counter each.
 */
export class BoundReports<Bound extends string> implements Disposable {
  readonly #errors: BoundErrors<Bound>;
  readonly #observe: (reports: readonly BoundReport<Bound>[]) => void;
  readonly #log: { warn(fields: object, message: string): void };
  readonly #watched = new Map<Bound, Watched>();
  readonly #timer: NodeJS.Timeout;

  constructor(
    errors: BoundErrors<Bound>,
    observe: (reports: readonly BoundReport<Bound>[]) => void,
    log: { warn(fields: object, message: string): void },
  ) {
    this.#errors = errors;
    this.#observe = observe;
    this.#log = log;
    this.#timer = setInterval(() => {
      this.report();
    }, reportMs).unref();
  }

  /** Must be called once for each bound before it refuses anything. `read` returns how much of it is in use. */
  watch(bound: Bound, limit: number | (() => number), read: () => number = () => 0): void {
    const limitNow = typeof limit === 'number' ? () => limit : limit;
    const never = { lastInUse: Number.NaN, lastLimit: Number.NaN, refused: 0, unlogged: 0, loggedAt: -Infinity };
    this.#watched.set(bound, { limit: limitNow, read, ...never });
  }

  /** `about` is logged with the line, if there is one. */
  refused(bound: Bound, about: object): void {
    const watched = this.#watched.get(bound);
    if (watched === undefined) return;
    watched.refused += 1;
    watched.unlogged += 1;
    const now = performance.now();
    const error = this.#errors[bound];
    if (error === undefined || now - watched.loggedAt < logMs) return;
    const { code, message } = error;
    this.#log.warn({ bound, limit: watched.limit(), code, refused: watched.unlogged, ...about }, message);
    watched.loggedAt = now;
    watched.unlogged = 0;
  }

  /** Reports for the last time. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.report();
  }

  /** Tells the observer what has changed since the last report. */
  report(): void {
    const changed: BoundReport<Bound>[] = [];
    for (const [bound, watched] of this.#watched) {
      const inUse = watched.read();
      const limit = watched.limit();
      const { refused, lastInUse, lastLimit } = watched;
      if (refused === 0 && inUse === lastInUse && limit === lastLimit) continue;
      changed.push({ bound, limit, inUse, refused });
      watched.lastInUse = inUse;
      watched.lastLimit = limit;
      watched.refused = 0;
    }
    if (changed.length > 0) this.#observe(changed);
  }
}
