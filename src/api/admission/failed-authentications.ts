import type { FastifyBaseLogger } from 'fastify';

import { UserError } from '../../errors/user-error.ts';
import { FailureLimiter } from '../../lib/failure-limiter.ts';
import type { FailureAnswer, FailureLimits } from '../../lib/failure-limiter.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import {
  authorizationMalformed,
  keyIdInsteadOfToken,
  tokenMalformed,
  tokenUnknown,
  tooManyFailures,
} from '../errors.ts';

/** Refusals of a credential that may be a guess. The holder of an expired key has no need to guess. */
const guesses: ReadonlySet<number> = new Set(
  [authorizationMalformed, keyIdInsteadOfToken, tokenMalformed, tokenUnknown].map(({ code }) => code),
);

interface FailureObserver {
  readonly log: Pick<FastifyBaseLogger, 'info' | 'warn'>;
  readonly counted: (answer: FailureAnswer) => void;
}

/**
 * Answers failed authentications: at once, late, or with 429, by how often their source fails. The credential has been
 * checked by then, and a valid one never comes here: many failures of an address do no harm to others behind it.
 */
export class FailedAuthentications implements Disposable {
  readonly #limiter: FailureLimiter | undefined;
  readonly #observer: FailureObserver;

  /** Without limits, every failure is answered at once. */
  constructor(limits: FailureLimits | undefined, observer: FailureObserver) {
    this.#observer = observer;
    const { log } = observer;
    this.#limiter =
      limits &&
      new FailureLimiter(limits, (sources, others) => {
        for (const each of sources) log[each.failures > limits.prompt ? 'warn' : 'info'](each, text);
        if (others.failures > 0) log.warn({ source: 'other sources', ...others }, text);
      });
  }

  /** Throws the answer to a fault of authentication, when it is time. */
  async answer(fault: unknown, source: () => IpAddress): Promise<never> {
    if (!(fault instanceof UserError && guesses.has(fault.code))) throw fault;
    return this.answerGuess(fault, source);
  }

  /** Counts a fault that may come of a guess, whatever its number. */
  async answerGuess(fault: UserError, source: () => IpAddress): Promise<never> {
    const verdict = await this.#limiter?.failed(source());
    this.#observer.counted(verdict?.answer ?? 'prompt');
    if (verdict?.answer !== 'refused') throw fault;
    const { source: name, retryAfterSeconds: seconds } = verdict;
    throw new UserError(tooManyFailures, { source: name, seconds }, { 'Retry-After': String(seconds) });
  }

  [Symbol.dispose](): void {
    this.#limiter?.[Symbol.dispose]();
  }
}

const text = 'failed authentications within a minute';
