import { DecisionsUnreadable, readLimits } from '../../decisions/decision-reader.ts';
import type { Answer, Asked, QuestionKind } from '../../decisions/messages.ts';
import { UserError } from '../../errors/user-error.ts';
import { TooMuchWaits } from '../../lib/fair-turns.ts';
import { processes } from '../processes/service.ts';
import type { ResourceContext } from '../resource.ts';
import * as errors from './errors.ts';
import { keptDecisions } from './service.ts';

export const gatewayStates = ['answered', 'keeps_none', 'not_asked'] as const;

/** What became of a question at one gateway. */
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

/** Asks every gateway of the installation that can be asked from here. */
export async function askGateways<Kind extends QuestionKind>(
  { services }: ResourceContext,
  kind: Kind,
  asked: Asked<Kind>,
  isAbandoned: () => boolean,
): Promise<readonly AskedGateway<Kind>[]> {
  const kept = services.find(keptDecisions);
  const own = kept && (await kept.ask(kind, asked, isAbandoned).catch(explainFault));
  const all = (await services.get(processes).list()).filter(({ role }) => role !== 'api');
  return all.map(({ id, isSelf }): AskedGateway<Kind> => {
    if (!isSelf) return { process: id, state: 'not_asked' };
    if (kept === undefined || own === undefined) return { process: id, state: 'keeps_none' };
    const { gateway } = kept;
    return { process: id, state: 'answered', gateway, answer: own, dropped: kept.dropped(asked.accountId) };
  });
}

function explainFault(error: unknown): never {
  if (error instanceof TooMuchWaits) throw new UserError(errors.tooManyReads, { count: readLimits.waiting });
  if (error instanceof DecisionsUnreadable) throw new UserError(errors.decisionsUnreadable, { 'retry-after': '5' });
  throw error;
}
