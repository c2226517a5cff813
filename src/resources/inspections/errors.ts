import { defineError } from '../../errors/user-error.ts';

export const inspectionNotFound = defineError(
  20423,
  404,
  'There is no inspection {id}. One ends after an hour at most; GET /inspections lists those under way.',
);

export const tooManyInspections = defineError(
  20424,
  409,
  'There are as many inspections as can be, of all accounts. Try again when one has ended: each takes an hour at most.',
);

export const nothingToInspect = defineError(
  20425,
  404,
  'There is no HTTPS edge, route or endpoint {id}. Give the id of one (edghts_…, edghtsrt_…, ep_…).',
);

export const nothingPassesHere = defineError(
  20426,
  409,
  'No process carries traffic, so none could record any. Start a gateway, and try again.',
);

export const tooManyInspectionCalls = defineError(
  20430,
  429,
  'Inspections of this account are being read already, and {count} calls wait for their turn. Try again shortly.',
);

export const badCursor = defineError(
  20431,
  400,
  'The parameter after is no cursor. Give the cursor of an answer before, or leave it out.',
);

export const requestNotKept = defineError(
  20433,
  404,
  'The request {id} is not kept, or not any more: each gateway keeps the last 100 of an inspection.',
);

export const notReplayable = defineError(20434, 400, 'The request cannot be replayed so: {reason}.');

export const replayUnserved = defineError(
  20435,
  409,
  'The edge or endpoint does not serve the host {host} any more, so that the request cannot be replayed.',
);

export const replayGatewayGone = defineError(
  20436,
  503,
  'The gateway {process}, which has recorded the request, does not answer. Try again shortly, or replay a request that another one has recorded.',
);

export const tooManyReplays = defineError(
  20437,
  429,
  'An account replays {count} requests within a minute, and four at the same time, at most. Try again shortly.',
);
