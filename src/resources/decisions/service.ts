import type { Decisions } from '../../decisions/decisions.ts';
import type { LinkQuestion, LinkReply } from '../../decisions/over-links.ts';
import { serviceKey } from '../services.ts';

/** Decisions that this process keeps; not provided where it keeps none. */
export const keptDecisions = serviceKey<Pick<Decisions, 'gateway' | 'ask' | 'dropped'>>('kept decisions');

/** Asks another process of the installation, which it never rejects. */
export type AskProcess = (
  processId: string,
  question: LinkQuestion,
) => Promise<LinkReply | { readonly state: 'no_answer' | 'unreachable' }>;

export const otherGateways = serviceKey<AskProcess>('decisions of other gateways');
