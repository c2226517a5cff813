import { DecisionsUnreadable, readLimits } from '../../decisions/decision-reader.ts';
import type { Answer, Asked, QuestionKind } from '../../decisions/messages.ts';
import { readAnswer, readReply, writeQuestion } from '../../decisions/over-links.ts';
import { UserError } from '../../errors/user-error.ts';
import { FairTurns, TooMuchWaits } from '../../lib/fair-turns.ts';
import { AbandonedError } from '../../lib/pace.ts';
import { otherProcesses } from '../other-processes.ts';
import { processes } from '../processes/service.ts';
import type { ListedProcess } from '../processes/service.ts';
import type { ResourceContext } from '../resource.ts';
import * as errors from './errors.ts';
import { keptDecisions } from './service.ts';

export const gatewayStates = [
  'answered',
  'keeps_none',
  'busy',
  'failed',
  'no_answer',
  'unreachable',
  'not_asked',
] as const;

/** The outcome of a question at one gateway. */
export interface AskedGateway<Kind extends QuestionKind> {
  /** Id of its process. */
  readonly process: string;
  readonly state: (typeof gatewayStates)[number];
  /** Names its store, also after a restart. */
  readonly gateway?: string;
  readonly answer?: Answer<Kind>;
  /** Decisions of the account that it could not keep since it was started. */
  readonly dropped?: number;
}

/** Other processes that one question is sent to. */
const mostOthers = 64;
/** An account waits for its own questions before they are sent anywhere. */
const turns = new FairTurns({ atOnce: 8, ofOwner: readLimits.ofOwner, waiting: readLimits.waiting });

/** Asks every gateway of the installation. Throws where none of those that keep decisions can be read. */
export async function askGateways<Kind extends QuestionKind>(
  context: ResourceContext,
  kind: Kind,
  asked: Asked<Kind>,
  isAbandoned: () => boolean,
): Promise<readonly AskedGateway<Kind>[]> {
  const ask = async (): Promise<readonly AskedGateway<Kind>[]> => {
    if (isAbandoned()) throw new AbandonedError('nobody waits for it any more');
    const listed = (await context.services.get(processes).list()).filter(
      ({ role }) => role !== 'api' && role !== 'agents',
    );
    const others = new Set(listed.filter(({ isSelf }) => !isSelf).slice(0, mostOthers));
    return Promise.all(
      listed.map(async (each): Promise<AskedGateway<Kind>> => {
        if (each.isSelf) return askOwn(context, each, kind, asked, isAbandoned);
        return others.has(each)
          ? askOther(context, each, kind, asked, isAbandoned)
          : { process: each.id, state: 'not_asked' };
      }),
    );
  };
  const gateways = await turns.run(asked.accountId, ask).catch((error: unknown) => {
    throw error instanceof TooMuchWaits ? new UserError(errors.tooManyReads, { count: readLimits.waiting }) : error;
  });
  checkReadable(gateways);
  return gateways;
}

async function askOwn<Kind extends QuestionKind>(
  { services }: ResourceContext,
  { id }: ListedProcess,
  kind: Kind,
  asked: Asked<Kind>,
  isAbandoned: () => boolean,
): Promise<AskedGateway<Kind>> {
  const kept = services.find(keptDecisions);
  if (kept === undefined) return { process: id, state: 'keeps_none' };
  try {
    const answer = await kept.ask(kind, asked, isAbandoned);
    return { process: id, state: 'answered', gateway: kept.gateway, answer, dropped: kept.dropped(asked.accountId) };
  } catch (error) {
    if (error instanceof TooMuchWaits) return { process: id, state: 'busy' };
    if (error instanceof DecisionsUnreadable) return { process: id, state: 'failed' };
    throw error;
  }
}

async function askOther<Kind extends QuestionKind>(
  { services }: ResourceContext,
  { id }: ListedProcess,
  kind: Kind,
  asked: Asked<Kind>,
  isAbandoned: () => boolean,
): Promise<AskedGateway<Kind>> {
  const ask = services.find(otherProcesses);
  if (ask === undefined) return { process: id, state: 'not_asked' };
  const heard = await ask(id, writeQuestion(kind, asked), isAbandoned);
  const reply = heard.state === 'heard' ? readReply(heard.reply) : heard;
  if (reply.state !== 'answered')
    return { process: id, state: gatewayStates.find((each) => each === reply.state) ?? 'failed' };
  const { gateway, dropped } = reply;
  try {
    return { process: id, state: 'answered', gateway, dropped, answer: readAnswer(kind, reply.answer) };
  } catch {
    return { process: id, state: 'failed' };
  }
}

/** An answer without anything must not look like nothing. */
function checkReadable(gateways: readonly AskedGateway<QuestionKind>[]): void {
  const has = (...states: readonly AskedGateway<QuestionKind>['state'][]): boolean =>
    gateways.some(({ state }) => states.includes(state));
  if (has('answered')) return;
  if (has('busy')) throw new UserError(errors.tooManyReads, { count: readLimits.waiting });
  if (has('failed', 'no_answer', 'unreachable'))
    throw new UserError(errors.decisionsUnreadable, { 'retry-after': '5' });
}
