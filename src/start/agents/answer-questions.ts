import { answerLinks } from '../../decisions/answer-links.ts';
import type { ResilientGateway } from '../../gateway/resilient-gateway.ts';
import type { AnswerQuestion } from '../../links/question.ts';
import { answerInspections } from '../../observe/inspection-messages.ts';
import { readReplay } from '../../observe/replay-messages.ts';
import type { Observers } from '../observers.ts';

interface Answering extends Pick<Observers, 'decisions' | 'inspections'> {
  /** Undefined where the process carries no traffic. */
  readonly gateway: Pick<ResilientGateway, 'engine'> | undefined;
}

/** Answers what other processes of the installation ask, by what it is about. */
export function answerQuestions({ decisions, inspections, gateway }: Answering): AnswerQuestion {
  const aboutDecisions = answerLinks(decisions);
  return async (question, isAbandoned) => {
    if (isAbout(question, 'inspections')) return answerInspections(inspections, question);
    if (isAbout(question, 'replays')) return (await gateway?.engine?.replay(readReplay(question))) ?? { state: 'gone' };
    return aboutDecisions(question, isAbandoned);
  };
}

function isAbout(question: unknown, about: string): boolean {
  return typeof question === 'object' && question !== null && 'about' in question && question.about === about;
}
