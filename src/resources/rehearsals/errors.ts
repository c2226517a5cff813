import { defineError } from '../../errors/user-error.ts';

export const notRehearsable = defineError(
  20427,
  400,
  '{method} {path} is no write that can be rehearsed. Give a write of an IP policy, rule, IP restriction, edge, route, module or cloud endpoint, POST /configuration, POST /configuration/return, or the revert of a change, without dry_run.',
);

export const tooManyRehearsals = defineError(
  20428,
  429,
  'A change of this account is being rehearsed already. Wait until it is done, or ask again shortly.',
);

export const decisionsUnreadable = defineError(
  20429,
  503,
  'Decisions about visitors cannot be read at the moment, so that nothing can be rehearsed; traffic goes on. Try again shortly. The log of the server has the cause.',
);
