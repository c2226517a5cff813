import { adminsMay } from '../../api/admission/rights.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { formatIp } from '../../lib/ip/address.ts';
import { FairTurns, TooMuchWaits } from '../../lib/fair-turns.ts';
import type { ResourceContext } from '../resource.ts';
import { buildReplay } from './build-replay.ts';
import * as errors from './errors.ts';
import { path, presentMessage } from './present.ts';
import { InspectionReplay, InspectionReplayed } from './schema.ts';
import { inspections, sendReplay } from './service.ts';
import { shareWithGateways } from './share-with-gateways.ts';

/** Replays of one account in a minute, of each process that answers. */
const mostInMinute = 30;
const minuteMs = 60_000;
const microsecondsInMs = 1000;

export function replayOperation(context: ResourceContext): Operation {
  const turns = new FairTurns({ atOnce: 16, ofOwner: 2, waiting: 2 });
  const begun = new Map<string, number[]>();
  return operation({
    rights: adminsMay('replay requests of visitors'),
    method: 'POST',
    path: `${path}/{id}/replays`,
    operationId: 'InspectionsReplay',
    summary: 'Replay a recorded request',
    description:
      'Sends a request again, as it was recorded or changed, through the gateway that has recorded it, as if the caller had sent it from their address: every rule is asked, and no redirect is followed. ' +
      'It carries no certificate, and no value that was masked unless it is given here; the header Gatehouse-Replay names the first request. The answer is shown with secrets masked, for ten seconds and up to 1 MiB.',
    tag: 'Traffic',
    body: InspectionReplay,
    status: 200,
    response: InspectionReplayed,
    errors: [
      errors.inspectionNotFound,
      errors.requestNotKept,
      errors.notReplayable,
      errors.replayUnserved,
      errors.replayGatewayGone,
      errors.tooManyReplays,
      errors.tooManyInspectionCalls,
    ],
    handle: async (call) => {
      const { accountId, source } = call.caller;
      const id = call.params['id'] ?? '';
      const { request_id: requestId, ...changes } = call.body;
      const wanted = { id, after: new Map<string, number>(), requestId };
      const gateways = await shareWithGateways(context, accountId, call.isAbandoned, wanted);
      if (context.services.get(inspections).find(accountId, id) === undefined)
        throw new UserError(errors.inspectionNotFound, { id: quote(id) });
      const holder = gateways.find(({ reply }) => reply?.requests.some((each) => each.id === requestId) === true);
      const recorded = holder?.reply?.requests.find((each) => each.id === requestId);
      if (holder === undefined || recorded === undefined)
        throw new UserError(errors.requestNotKept, { id: quote(requestId) });
      const { request, leftOut } = buildReplay(recorded, changes, formatIp(source));
      countReplay(begun, accountId);
      const sent = turns.run(accountId, () => context.services.get(sendReplay)(holder.processId, request));
      const outcome = await sent.catch((error: unknown) => {
        throw error instanceof TooMuchWaits ? new UserError(errors.tooManyReplays, { count: mostInMinute }) : error;
      });
      if (outcome === undefined) throw new UserError(errors.replayGatewayGone, { process: holder.processId });
      if (outcome.state === 'gone') throw new UserError(errors.replayUnserved, { host: recorded.host });
      return {
        id: outcome.id,
        replay_of: requestId,
        is_edited: request.isEdited,
        process_id: holder.processId,
        left_out: leftOut,
        ...(outcome.state === 'answered' && {
          answer: { status: outcome.answer.status, ...presentMessage(outcome.answer) },
        }),
        is_whole: outcome.state === 'answered' && outcome.isWhole,
        duration_ms: Math.round(outcome.durationMs * microsecondsInMs) / microsecondsInMs,
      };
    },
  });
}

/** Throws for one too many within a minute. */
function countReplay(begun: Map<string, number[]>, accountId: string): void {
  const nowMs = performance.now();
  for (const [each, times] of begun) {
    const recent = times.filter((timeMs) => nowMs - timeMs < minuteMs);
    if (recent.length === 0) begun.delete(each);
    else begun.set(each, recent);
  }
  const times = begun.get(accountId) ?? [];
  if (times.length >= mostInMinute) throw new UserError(errors.tooManyReplays, { count: mostInMinute });
  begun.set(accountId, [...times, nowMs]);
}
