import { credentialsRequired, tooManyWrongPasswords } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { FailureCounts } from '../../lib/failure-counts.ts';
import { findHeader } from '../../lib/header-list.ts';
import { formatSourceKey, proxiesKey } from '../../lib/ip/source-key.ts';
import type { ConnectionVisit, HeaderList } from '../../modules/step.ts';
import type { TrafficObserver, WrongPassword } from '../engine.ts';

/** Pairs of an endpoint and a source that are counted apart; all others share one count. */
const countedPairs = 10_000;

/**
 * Refuses sources that have given too many wrong passwords, each at the endpoint where it did. A right one is refused with
 * them, unread: were it let in, guessing would go on. Only where a source cannot be told from others, because there are too
 * many, or because a trusted proxy does not name it, right ones are let in, so that nobody shuts out everybody else.
 */
export class WrongPasswords implements Disposable {
  readonly #limit: number;
  readonly #observer: Pick<TrafficObserver, 'passwordRefused'>;
  readonly #counts = new FailureCounts(countedPairs);

  /** `limit` is the number of wrong passwords that one source may give at one endpoint within a minute. */
  constructor(limit: number | undefined, observer: Pick<TrafficObserver, 'passwordRefused'>) {
    this.#limit = limit ?? Infinity;
    this.#observer = observer;
  }

  /** Returns the error to answer with. `refuses` is asked only for a source that may still try. */
  check(
    { edgeId, countedSource, headers }: Pick<ConnectionVisit, 'edgeId' | 'countedSource' | 'headers'>,
    refuses: (headers: HeaderList) => UserError | undefined,
  ): UserError | undefined {
    const wrong = { edgeId, source: formatSourceKey(countedSource) };
    if ((this.#counts.find(keyOf(wrong))?.failures ?? 0) >= this.#limit) return this.#refuse(wrong);
    const refusal = refuses(headers);
    if (refusal?.code !== credentialsRequired.code || findHeader(headers, 'authorization') === undefined)
      return refusal;
    if (this.count(wrong) > this.#limit) return this.#refuse(wrong);
    this.#observer.passwordRefused(wrong, 'checked');
    return refusal;
  }

  /** Counts a wrong password, which may have come to another worker. */
  count(wrong: WrongPassword): number {
    return this.#counts.add(wrong.source === proxiesKey ? undefined : keyOf(wrong)).failures;
  }

  [Symbol.dispose](): void {
    this.#counts[Symbol.dispose]();
  }

  #refuse(wrong: WrongPassword): UserError {
    this.#observer.passwordRefused(wrong, 'unchecked');
    const { retryAfterSeconds: seconds } = this.#counts;
    const values = { source: wrong.source, seconds };
    return new UserError(tooManyWrongPasswords, values, { 'Retry-After': String(seconds) });
  }
}

function keyOf({ edgeId, source }: WrongPassword): string {
  return `${edgeId} ${source}`;
}
