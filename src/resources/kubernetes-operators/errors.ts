import { defineError } from '../../errors/user-error.ts';

export const bindingsNotOffered = defineError(
  20380,
  400,
  'The feature "bindings" of the operator is not offered here: this server has no listener inside of clusters. Switch it off in the operator (bindings.enabled: false), and use endpoints that are public or internal.',
);
