import type { FixedAnswer } from './fixed-answer.ts';
import { upstreamBroke } from '../errors.ts';
import type { OpenOutcome, UpstreamSource } from './upstream-source.ts';

/** Connections to an answer that is known already: each takes one request. */
export class FixedSource implements UpstreamSource {
  readonly id: string;
  readonly isShared = false;
  readonly silentEnd = upstreamBroke;
  readonly #answer: FixedAnswer;

  constructor(answer: FixedAnswer) {
    this.id = answer.id;
    this.#answer = answer;
  }

  preferredWay(): undefined {}

  reused(): void {}

  open(_visitor: unknown, _idleOf: unknown, outcome: OpenOutcome): () => void {
    const later = setImmediate(() => {
      outcome.opened(this.#answer.open(), '');
    });
    return () => {
      clearImmediate(later);
    };
  }
}
