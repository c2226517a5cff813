import type { Decisions } from '../../decisions/decisions.ts';
import type { LinkQuestion, LinkReply } from '../../decisions/over-links.ts';
import { serviceKey } from '../services.ts';

/** Decisions that this process keeps; not provided where it keeps none. */
export const keptDecisions = serviceKey<Pick<Decisions, 'gateway' | 'ask' | 'dropped'>>('kept decisions');

/** Asks another process of the installation. Rejects only with `AbandonedError`, once nobody waits for the answer. */
export type AskProcess = (
  processId: string,
  question: LinkQuestion,
  isAbandoned?: () => boolean,
) => Promise<LinkReply | { readonly state: 'no_answer' | 'unreachable' }>;

export const otherGateways = serviceKey<AskProcess>('decisions of other gateways');
