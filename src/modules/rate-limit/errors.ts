import { defineError } from '../../errors/user-error.ts';

export const rateLimitHeaderMissing = defineError(
  20351,
  400,
  'A rate limit by header needs the name of the header, and any other rate limit has none. Give header only together with by: "header".',
);

export const rateLimitBySourceOnly = defineError(
  20352,
  400,
  'Connections of TCP and TLS edges are counted by source alone, before anything of them is read. Leave by out, or set it to "source".',
);
