import { Type } from 'typebox';

import type { Call } from '../../api/call.ts';
import { adminsMay } from '../../api/admission/rights.ts';
import { operation } from '../../api/operation.ts';
import type { Operation } from '../../api/operation.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { newId } from '../../lib/ids.ts';
import { edgeAddresses, edgeModules, httpsRouteModules } from '../edges/service.ts';
import type { Resource, ResourceContext } from '../resource.ts';
import * as errors from './errors.ts';
import { path, presentGateways, presentInspection, presentRequest } from './present.ts';
import { replayOperation } from './replay.ts';
import {
  InspectionCreate,
  InspectionReplay,
  InspectionReplayed,
  InspectionsView,
  InspectionView,
  InspectionWithRequests,
} from './schema.ts';
import { inspections } from './service.ts';
import { readCursor, shareWithGateways, writeCursor } from './share-with-gateways.ts';

const tag = 'Traffic';
const rights = adminsMay('inspect requests of visitors');
const minuteMs = 60_000;
const what =
  'What is recorded stays in memory of the gateways that carry the requests, with secrets masked; `gateways` names those that did not answer.';

function createOperation(context: ResourceContext): Operation {
  return operation({
    rights,
    method: 'POST',
    path,
    operationId: 'InspectionsCreate',
    summary: 'Inspect requests',
    description: `Records the requests to a route, HTTPS edge or endpoint that its checks let in, with headers and the start of bodies, for an hour at most. ${what} One that did not answer records from when it is heard from again. Another inspection of the same thing takes the place of the one before, and a sixth of the account that of the oldest.`,
    tag,
    body: InspectionCreate,
    status: 201,
    response: InspectionView,
    errors: [
      errors.tooManyInspections,
      errors.nothingToInspect,
      errors.nothingPassesHere,
      errors.tooManyInspectionCalls,
    ],
    handle: async (call) => {
      const { accountId, principal } = call.caller;
      const { subject_id: subjectId, minutes = 60 } = call.body;
      if (!(await isThere(context, accountId, subjectId)))
        throw new UserError(errors.nothingToInspect, { id: quote(subjectId) });
      const own = context.services.get(inspections);
      const terms = { id: newId('insp'), accountId, subjectId, endsAtMs: Date.now() + minutes * minuteMs };
      const started = own.start(terms, principal.id);
      if (started === undefined) throw new UserError(errors.tooManyInspections);
      const gateways = await shareWithGateways(context, accountId, call.isAbandoned);
      if (gateways.length === 0) {
        own.end(accountId, terms.id);
        throw new UserError(errors.nothingPassesHere);
      }
      return { ...presentInspection(started, gateways, call), gateways: presentGateways(gateways, terms.id) };
    },
  });
}

function listOperation(context: ResourceContext): Operation {
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
    errors: [errors.tooManyInspectionCalls],
    handle: async (call) => {
      const { accountId } = call.caller;
      const gateways = await shareWithGateways(context, accountId, call.isAbandoned);
      return {
        inspections: context.services
          .get(inspections)
          .ofAccount(accountId)
          .map((each) => ({
            ...presentInspection(each, gateways, call),
            gateways: presentGateways(gateways, each.id),
          })),
        gateways: presentGateways(gateways),
        uri: call.uri(path),
      };
    },
  });
}

function getOperation(context: ResourceContext): Operation {
  return operation({
    rights,
    method: 'GET',
    path: `${path}/{id}`,
    operationId: 'InspectionsGet',
    summary: 'Show what an inspection has recorded',
    description: `The last requests, newest first. ${what}`,
    tag,
    query: [
      {
        name: 'after',
        description: 'The `cursor` of an answer before: only requests that were recorded since are shown.',
        schema: Type.String({ examples: ['proc_2tQzYDLwIVU45s8sSMNpRfQp1Ng:17'] }),
      },
    ],
    status: 200,
    response: InspectionWithRequests,
    mayBeLarge: true,
    errors: [errors.inspectionNotFound, errors.badCursor, errors.tooManyInspectionCalls],
    handle: async (call) => {
      const { accountId } = call.caller;
      const after = readCursor(call.filters['after']);
      const gateways = await shareWithGateways(context, accountId, call.isAbandoned, { id: idOf(call), after });
      const found = context.services.get(inspections).find(accountId, idOf(call));
      if (found === undefined) throw notFound(call);
      const requests = gateways
        .flatMap(({ processId, reply }) => (reply?.requests ?? []).map((each) => ({ each, processId })))
        .toSorted((a, b) => b.each.atMs - a.each.atMs);
      return {
        ...presentInspection(found, gateways, call),
        gateways: presentGateways(gateways, found.id),
        requests: requests.map(({ each, processId }) => presentRequest(each, processId)),
        cursor: writeCursor(gateways, after),
      };
    },
  });
}

function deleteOperation(context: ResourceContext): Operation {
  return operation({
    rights,
    method: 'DELETE',
    path: `${path}/{id}`,
    operationId: 'InspectionsDelete',
    summary: 'End an inspection',
    description:
      'Ends it and forgets what it has recorded, at each gateway that answers; another one does so when it is heard from again, or at its end.',
    tag,
    status: 204,
    errors: [errors.inspectionNotFound, errors.tooManyInspectionCalls],
    handle: async (call) => {
      const { accountId } = call.caller;
      const own = context.services.get(inspections);
      // Another process may have begun it.
      if (own.find(accountId, idOf(call)) === undefined) await shareWithGateways(context, accountId, call.isAbandoned);
      if (!own.end(accountId, idOf(call))) throw notFound(call);
      // Where too many calls wait, gateways that record hear of it when they ask next.
      await shareWithGateways(context, accountId, () => false).catch((error: unknown) => {
        if (!(error instanceof UserError)) throw error;
      });
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

/** Requests that admins look at while they pass. Nothing of them is stored. */
export const inspectionsResource: Resource = {
  errors: Object.values(errors),
  migrations: [],
  schemas: [
    InspectionCreate,
    InspectionView,
    InspectionWithRequests,
    InspectionsView,
    InspectionReplay,
    InspectionReplayed,
  ],
  operations: (context) => [
    createOperation(context),
    listOperation(context),
    getOperation(context),
    deleteOperation(context),
    replayOperation(context),
  ],
};
