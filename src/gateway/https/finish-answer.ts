import { internalError } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import type { Answering, OwnAnswer, Wait } from '../../modules/step.ts';
import { setCookies } from '../sign-in/cookies.ts';
import type { AnswerRun } from './answer-run.ts';
import { withoutSetSession } from './headers/session-cookie.ts';
import type { RequestVisit } from './request-visit.ts';

/** What the steps for answers have made of one. */
export type ChangedAnswer = Pick<Answering, 'headers' | 'contentLength' | 'openTransform'> & {
  readonly isEncoded?: boolean;
};

type Pass = (changed: ChangedAnswer) => void;

export interface AnswerOwner {
  /** True: the client has its answer, or has left. */
  readonly hasEnded: boolean;
  onActivity(): void;
  /** A step waits: what comes of the answer is to be kept. */
  onAnswerWaits(): void;
  /** No step waits any more. `pass` sends the head; what was kept follows. */
  onAnswerGoesOn(pass: () => void): void;
  /** An answer of our own is sent in place of the one that came. */
  onAnswerReplaced(answer: OwnAnswer): void;
  onAnswerRefused(error: UserError): void;
  /** The connection ends without an answer. */
  onAnswerClosed(refusal: UserError): void;
}

/** Goes on with what the steps for answers make of one; they may answer in its place, or wait. */
export function finishAnswer(run: AnswerRun, visit: RequestVisit, owner: AnswerOwner, pass: Pass): void {
  const outcome = nextOf(run, visit);
  const { own, answering } = run;
  if (outcome === undefined && own === undefined) {
    answering.headers = withCookies(answering.headers, visit);
    const { headers, contentLength, openTransform } = answering;
    pass({ headers, contentLength, openTransform, isEncoded: run.isEncoded });
  } else if (outcome === undefined) owner.onAnswerReplaced(own!);
  else if (outcome instanceof UserError) owner.onAnswerRefused(outcome);
  else if (outcome.kind === 'close') owner.onAnswerClosed(outcome.refusal);
  else waitForStep(outcome, run, visit, owner, pass);
}

/** The headers with the cookies of the visit. The steps for answers come first: they can add a cookie as well as the upstream. */
export function withCookies(headers: readonly string[], { cookies }: RequestVisit): readonly string[] {
  const kept = withoutSetSession(headers);
  return cookies.length === 0 ? kept : [...kept, ...setCookies(cookies)];
}

function waitForStep({ start }: Wait, run: AnswerRun, visit: RequestVisit, owner: AnswerOwner, pass: Pass): void {
  owner.onAnswerWaits();
  const goOn = (): void => {
    if (owner.hasEnded) return;
    owner.onActivity();
    finishAnswer(run, visit, owner, (changed) => {
      owner.onAnswerGoesOn(() => {
        pass(changed);
      });
    });
  };
  start().then(
    (answer) => {
      if (answer !== undefined) run.replace(answer);
      goOn();
    },
    (error: unknown) => {
      if (!owner.hasEnded) owner.onAnswerRefused(ofStep(error, visit));
    },
  );
}

function nextOf(run: AnswerRun, visit: RequestVisit): ReturnType<AnswerRun['next']> {
  try {
    return run.next();
  } catch (error) {
    return ofStep(error, visit);
  }
}

/** The error to answer with, where a step for the answer failed. */
function ofStep(error: unknown, { context, log }: RequestVisit): UserError {
  if (error instanceof UserError) return error;
  context.log.error({ err: error, operation_id: log.operationId }, 'a step for an answer failed');
  return new UserError(internalError);
}
