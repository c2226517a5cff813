import { defineError } from '../../errors/user-error.ts';

export const inspectionNotFound = defineError(
  20423,
  404,
  'The process that answers has no inspection {id}. One ends after an hour at most, and with a restart; GET /inspections lists those under way.',
);

export const tooManyInspections = defineError(
  20424,
  409,
  'The process that answers records as many inspections as it can, of all accounts. Try again when one has ended: each takes an hour at most.',
);

export const nothingToInspect = defineError(
  20425,
  404,
  'There is no HTTPS edge, route or endpoint {id}. Give the id of one (edghts_…, edghtsrt_…, ep_…).',
);

export const nothingPassesHere = defineError(
  20426,
  409,
  'The process that answers carries no traffic, so it could record none. Send the call to a gateway that has the API.',
);
