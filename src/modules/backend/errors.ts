import { defineError } from '../../errors/user-error.ts';

export const notABackendId = defineError(
  242,
  400,
  '{field} {id} is not the id of a backend: it must start with "bkdsc_", "bkdtg_", "bkdhr_", "bkdwd_" or "bkdfo_".',
);

export const backendMissing = defineError(
  6501,
  400,
  'There is no backend {id} in this account. Give the id of an existing one.',
);

export const backendRequired = defineError(
  20018,
  400,
  'The backend module needs a backend. Give its id in backend_id.',
);
