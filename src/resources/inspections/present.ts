import type { Call } from '../../api/call.ts';
import { toTimestamp } from '../../lib/ids.ts';
import type { InspectedMessage, InspectedRequest, Inspection } from '../../observe/inspections.ts';
import type { AskedGateway } from './share-with-gateways.ts';

export const path = '/inspections';
const microsecondsInMs = 1000;

/** An inspection with what all gateways have recorded of it. */
export function presentInspection(
  { id, subjectId, startedAtMs, endsAtMs, startedBy }: Inspection,
  gateways: readonly AskedGateway[],
  call: Call,
) {
  const told = gateways.flatMap(({ reply }) => reply?.known.find((each) => each.id === id) ?? []);
  return {
    id,
    uri: call.uri(`${path}/${id}`),
    subject_id: subjectId,
    created_at: toTimestamp(startedAtMs),
    ends_at: toTimestamp(endsAtMs),
    started_by: startedBy,
    left_out: told.reduce((sum, { leftOut }) => sum + leftOut, 0),
    recorded: told.reduce((sum, { recorded }) => sum + recorded, 0),
  };
}

/** Every gateway, and whether it records: of `id`, where one inspection is shown. */
export function presentGateways(gateways: readonly AskedGateway[], id?: string) {
  return gateways.map(({ processId, state, reply }) => {
    const lacksRoom = id !== undefined && reply !== undefined && !reply.known.some((each) => each.id === id);
    return { process_id: processId, state: lacksRoom ? 'full' : state };
  });
}

export function presentRequest(request: InspectedRequest, processId: string) {
  const { id, atMs, source, edgeId, routeId, host, method, target, protocol, request: sent, answer } = request;
  return {
    id,
    at: toTimestamp(atMs),
    process_id: processId,
    client_ip: source,
    edge_id: edgeId,
    route_id: routeId,
    host,
    method,
    target,
    protocol,
    request: presentMessage(sent),
    ...(answer !== undefined && { answer: { status: answer.status, ...presentMessage(answer) } }),
    duration_ms: Math.round(request.durationMs * microsecondsInMs) / microsecondsInMs,
    is_whole: request.isWhole,
    ...(request.replayOf !== undefined && {
      replay_of: { id: request.replayOf.id, is_edited: request.replayOf.isEdited },
    }),
  };
}

export function presentMessage({ headers, body, bodyBytes, isBodyWhole }: InspectedMessage) {
  const shown: { readonly name: string; readonly value: string }[] = [];
  for (let at = 0; at < headers.length; at += 2) shown.push({ name: headers[at] ?? '', value: headers[at + 1] ?? '' });
  return {
    headers: shown,
    ...(body !== undefined && { body }),
    body_bytes: bodyBytes,
    body_kept: body === undefined ? 'none' : isBodyWhole ? 'whole' : 'start',
  };
}
