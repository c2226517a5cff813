import { Type } from 'typebox';

import type { QuestionKind, Reach } from '../../decisions/messages.ts';
import { toTimestamp } from '../../lib/ids.ts';
import { gatewayStates } from './ask-gateways.ts';
import type { AskedGateway } from './ask-gateways.ts';

export const gatewaysField = Type.Array(
  Type.Object({
    process_id: Type.String({ description: 'Id of the process that carries traffic, as GET /gateways has it.' }),
    gateway: Type.Optional(
      Type.String({
        description: 'Id of its store of decisions, which stays after a restart. Absent: it did not answer.',
      }),
    ),
    state: Type.String({
      enum: [...gatewayStates],
      description:
        'answered: its decisions are among these. keeps_none: it keeps no decisions (`GATEHOUSE_DECISIONS`). busy: it has other questions of this account to answer. ' +
        'failed: its decisions cannot be read for now, and its log has the cause. no_answer: it stands still. unreachable: no link leads to it from the process that answers ' +
        '(`GATEHOUSE_LINK_LISTEN`). not_asked: there are too many gateways.',
    }),
    dropped: Type.Optional(
      Type.Integer({ description: 'Decisions of this account that it could not keep since it was started.' }),
    ),
    kept_from: Type.Optional(
      Type.String({ format: 'date-time', description: 'From when on it has decisions of this account.' }),
    ),
    was_cut_off: Type.Optional(Type.Boolean({ description: 'true: it did not reach all of its decisions in time.' })),
  }),
  { description: 'Every process that carries traffic, and what became of the question there.' },
);

export const isCompleteField = Type.Boolean({
  description:
    'false: some gateway did not answer, keeps no decisions, has dropped some, or did not reach all of them, so that the figures are the least it can be.',
});

/** How a gateway is shown. */
export function presentGateway(
  { process, gateway, state, dropped }: AskedGateway<QuestionKind>,
  reach: Reach | undefined,
) {
  return {
    process_id: process,
    gateway,
    state,
    dropped,
    kept_from: reach && toTimestamp(reach.keptFromMs),
    was_cut_off: reach && reach.cutAtMs !== undefined,
  };
}

/** True if each gateway has answered for the whole range. */
export function isComplete(
  asked: readonly AskedGateway<QuestionKind>[],
  reaches: readonly (Reach | undefined)[],
  fromMs: number,
): boolean {
  return (
    asked.every(({ state, dropped }) => state === 'answered' && dropped === 0) &&
    reaches.every((reach) => reach !== undefined && reach.cutAtMs === undefined && reach.keptFromMs <= fromMs)
  );
}
