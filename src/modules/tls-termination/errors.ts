import { defineError } from '../../errors/user-error.ts';

export const minVersionUpstream = defineError(
  20306,
  400,
  'A min_version ({version}) cannot be asked for where TLS ends upstream: the gateway does not read what it passes on. Leave it out, or set "terminate_at" to "edge".',
);
