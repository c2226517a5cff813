import { defineError } from '../../errors/user-error.ts';

export const minVersionUpstream = defineError(
  20306,
  400,
  'The min_version {version} cannot be enforced if TLS ends upstream, because the gateway does not read what it passes on. Leave it out, or set "terminate_at" to "edge".',
);
