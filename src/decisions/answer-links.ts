import { TooMuchWaits } from '../lib/fair-turns.ts';
import type { Decisions } from './decisions.ts';
import { readQuestion, writeAnswer } from './over-links.ts';
import type { LinkReply } from './over-links.ts';

/** Answers questions of other processes about the decisions that this one keeps. Rejects those that are about anything else. */
export function answerLinks(
  decisions: Pick<Decisions, 'ask' | 'gateway' | 'dropped'> | undefined,
): (question: unknown, isAbandoned: () => boolean) => Promise<LinkReply> {
  return async (question, isAbandoned) => {
    const { kind, asked } = readQuestion(question);
    if (decisions === undefined) return { state: 'keeps_none' };
    try {
      const answer = writeAnswer(kind, await decisions.ask(kind, asked, isAbandoned));
      return { state: 'answered', gateway: decisions.gateway, dropped: decisions.dropped(asked.accountId), answer };
    } catch (error) {
      return { state: error instanceof TooMuchWaits ? 'busy' : 'failed' };
    }
  };
}
