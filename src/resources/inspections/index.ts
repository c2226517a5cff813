import type { Call } from '../../api/call.ts';
import { adminsMay } from '../../api/admission/rights.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { newId, toTimestamp } from '../../lib/ids.ts';
import type { InspectedMessage, InspectedRequest, Inspection } from '../../observe/inspections.ts';
import { edgeAddresses, edgeModules, httpsRouteModules } from '../edges/service.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import { traffic } from '../traffic/service.ts';
import * as errors from './errors.ts';
import { InspectionCreate, InspectionsView, InspectionView, InspectionWithRequests } from './schema.ts';
import { inspections } from './service.ts';

const path = '/inspections';
const tag = 'Traffic';
const rights = adminsMay('inspect requests of visitors');
const minuteMs = 60_000;
const what =
  'What is recorded stays in memory of the process that answers and of its workers, with secrets masked; other gateways record nothing of it.';

function createOperation(context: ResourceContext): Operation {
  return operation({
    rights,
    method: 'POST',
    path,
    operationId: 'InspectionsCreate',
    summary: 'Inspect requests',
    description: `Records the requests to a route, HTTPS edge or endpoint that its checks let in, with headers and the start of bodies, for an hour at most. ${what} Another inspection of the same thing takes the place of the one before, and a sixth of the account that of the oldest.`,
    tag,
    body: InspectionCreate,
    status: 201,
    response: InspectionView,
    errors: [errors.tooManyInspections, errors.nothingToInspect, errors.nothingPassesHere],
    handle: async (call) => {
      const { accountId, principal } = call.caller;
      const { subject_id: subjectId, minutes = 60 } = call.body;
      if (!context.services.get(traffic).isCarriedHere) throw new UserError(errors.nothingPassesHere);
      if (!(await isThere(context, accountId, subjectId)))
        throw new UserError(errors.nothingToInspect, { id: quote(subjectId) });
      const terms = { id: newId('insp'), accountId, subjectId, endsAtMs: Date.now() + minutes * minuteMs };
      const started = context.services.get(inspections).start(terms, principal.id);
      if (started === undefined) throw new UserError(errors.tooManyInspections);
      return present(started, call);
    },
  });
}

function listOperation({ services }: ResourceContext): Operation {
  return operation({
    rights,
    method: 'GET',
    path,
    operationId: 'InspectionsList',
    summary: 'List inspections',
    description: `The inspections of this account that are under way. ${what}`,
    tag,
    status: 200,
    response: InspectionsView,
    errors: [],
    handle: async (call) => ({
      inspections: services
        .get(inspections)
        .ofAccount(call.caller.accountId)
        .map((each) => present(each, call)),
      uri: call.uri(path),
    }),
  });
}

function getOperation({ services }: ResourceContext): Operation {
  return operation({
    rights,
    method: 'GET',
    path: `${path}/{id}`,
    operationId: 'InspectionsGet',
    summary: 'Show what an inspection has recorded',
    description: `The last requests, newest first. ${what}`,
    tag,
    status: 200,
    response: InspectionWithRequests,
    mayBeLarge: true,
    errors: [errors.inspectionNotFound],
    handle: async (call) => {
      const found = services.get(inspections).find(call.caller.accountId, idOf(call));
      if (found === undefined) throw notFound(call);
      return { ...present(found, call), requests: found.requests.map(presentRequest) };
    },
  });
}

function deleteOperation({ services }: ResourceContext): Operation {
  return operation({
    rights,
    method: 'DELETE',
    path: `${path}/{id}`,
    operationId: 'InspectionsDelete',
    summary: 'End an inspection',
    description: 'Ends it and forgets what it has recorded.',
    tag,
    status: 204,
    errors: [errors.inspectionNotFound],
    handle: async (call) => {
      if (!services.get(inspections).end(call.caller.accountId, idOf(call))) throw notFound(call);
    },
  });
}

/** Whether the account has an HTTPS edge, a route or an endpoint of this id. */
async function isThere({ services }: ResourceContext, accountId: string, id: string): Promise<boolean> {
  const [prefix = ''] = id.split('_', 1);
  const routes = services.get(httpsRouteModules);
  if (prefix === routes.prefix) return (await routes.find(accountId, id)) !== undefined;
  const isOther = services.all(edgeAddresses).some((each) => each.prefix === prefix && each.proto !== 'https');
  const kind = isOther ? undefined : services.all(edgeModules).find((each) => each.prefix === prefix);
  return (await kind?.find(accountId, id)) !== undefined;
}

function idOf({ params }: Call): string {
  return params['id'] ?? '';
}

function notFound(call: Call): UserError {
  return new UserError(errors.inspectionNotFound, { id: quote(idOf(call)) });
}

function present({ id, subjectId, startedAtMs, endsAtMs, startedBy, leftOut, requests }: Inspection, call: Call) {
  return {
    id,
    uri: call.uri(`${path}/${id}`),
    subject_id: subjectId,
    created_at: toTimestamp(startedAtMs),
    ends_at: toTimestamp(endsAtMs),
    started_by: startedBy,
    left_out: leftOut,
    recorded: requests.length,
  };
}

function presentRequest({
  id,
  atMs,
  source,
  edgeId,
  routeId,
  host,
  method,
  target,
  protocol,
  ...rest
}: InspectedRequest) {
  const { request, answer, durationMs, isWhole } = rest;
  return {
    id,
    at: toTimestamp(atMs),
    client_ip: source,
    edge_id: edgeId,
    route_id: routeId,
    host,
    method,
    target,
    protocol,
    request: presentMessage(request),
    ...(answer !== undefined && { answer: { status: answer.status, ...presentMessage(answer) } }),
    duration_ms: Math.round(durationMs * 1000) / 1000,
    is_whole: isWhole,
  };
}

function presentMessage({ headers, body, bodyBytes, isBodyWhole }: InspectedMessage) {
  const shown: { readonly name: string; readonly value: string }[] = [];
  for (let at = 0; at < headers.length; at += 2) shown.push({ name: headers[at] ?? '', value: headers[at + 1] ?? '' });
  return {
    headers: shown,
    ...(body !== undefined && { body }),
    body_bytes: bodyBytes,
    body_kept: body === undefined ? 'none' : isBodyWhole ? 'whole' : 'start',
  };
}

/** Requests that admins look at while they pass. Nothing of them is stored. */
export const inspectionsResource: Resource = {
  errors: Object.values(errors),
  migrations: [],
  schemas: [InspectionCreate, InspectionView, InspectionWithRequests, InspectionsView],
  operations: (context) => [
    createOperation(context),
    listOperation(context),
    getOperation(context),
    deleteOperation(context),
  ],
};
