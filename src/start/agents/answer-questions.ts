import { answerLinks } from '../../decisions/answer-links.ts';
import type { AnswerQuestion } from '../../links/question.ts';
import { answerInspections } from '../../observe/inspection-messages.ts';
import type { Observers } from '../observers.ts';

/** Answers what other processes of the installation ask, by what it is about. */
export function answerQuestions({
  decisions,
  inspections,
}: Pick<Observers, 'decisions' | 'inspections'>): AnswerQuestion {
  const aboutDecisions = answerLinks(decisions);
  return async (question, isAbandoned) =>
    isAbout(question, 'inspections') ? answerInspections(inspections, question) : aboutDecisions(question, isAbandoned);
}

function isAbout(question: unknown, about: string): boolean {
  return typeof question === 'object' && question !== null && 'about' in question && question.about === about;
}
