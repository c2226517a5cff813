import { UserError } from '../../errors/user-error.ts';
import type { Answering, AnswerOutcome, OwnAnswer } from '../../modules/step.ts';
import type { RequestVisit } from './request-visit.ts';

/** The answer that has come. Its body is encoded only if it is that of an upstream to a request. */
type CameAnswer = Pick<Answering, 'status' | 'headers'> & Partial<Pick<Answering, 'contentLength' | 'isEncodable'>>;

/** One answer on its way through the steps of its endpoint, and then of those that have forwarded the request there. */
export class AnswerRun {
  #visit: RequestVisit | undefined;
  #at = 0;
  #answering: Answering;
  /** Set where an answer of our own is sent. */
  #own: OwnAnswer | undefined;
  #isEncoded = false;

  constructor(visit: RequestVisit, came: CameAnswer, own?: OwnAnswer) {
    const { context, accountId } = visit;
    const { status, headers, contentLength, isEncodable = false } = came;
    const mayEncode = (): boolean => (this.#isEncoded = context.encoders.mayOpen(accountId));
    const hold = (bytes: number): void => visit.hold(bytes);
    this.#visit = visit;
    this.#own = own;
    const body = { contentLength, openTransform: undefined, mayEncode, hold, isEncodable };
    this.#answering = { request: visit, visit, status, headers, ...body };
  }

  /** The answer as it has become. */
  get answering(): Answering {
    return this.#answering;
  }

  /** True: an encoder is at work in its transform. */
  get isEncoded(): boolean {
    return this.#isEncoded;
  }

  /** The answer that is sent in place of the upstream's. */
  get own(): OwnAnswer | undefined {
    return this.#own && { ...this.#own, headers: this.#answering.headers };
  }

  /** Runs the steps that are left. Undefined: all let it pass; one that waits is run again by the next call. */
  next(): Exclude<AnswerOutcome, { readonly kind: 'answer' }> | undefined {
    for (; this.#visit !== undefined; this.#visit = this.#visit.from, this.#at = 0) {
      const { answers } = this.#visit.route.list;
      this.#answering.visit = this.#visit;
      // An endpoint goes by the request as the one before it has forwarded it.
      this.#answering.request = this.#visit;
      for (; this.#at < answers.length; this.#at++) {
        const outcome = answers[this.#at]!.run(this.#answering);
        if (outcome === undefined) continue;
        if (outcome instanceof UserError || outcome.kind !== 'answer') return outcome;
        this.replace(outcome.answer);
      }
    }
    return undefined;
  }

  /** Puts an answer of our own in the place of the one that came; steps that are left change it too. */
  replace(answer: OwnAnswer): void {
    const { status, headers } = answer;
    this.#own = answer;
    const body = { contentLength: undefined, openTransform: undefined, isEncodable: false };
    this.#answering = { ...this.#answering, status, headers, ...body };
  }
}
