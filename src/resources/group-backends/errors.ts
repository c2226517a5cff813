import { defineError } from '../../errors/user-error.ts';

export const membersRequired = defineError(
  20287,
  400,
  'This backend needs other backends. Give their ids in backends.',
);

export const notAMemberId = defineError(
  20288,
  400,
  '{id} in backends is not the id of a backend: one starts with {prefixes}.',
);

export const memberMissing = defineError(
  20289,
  400,
  'There is no backend {id} in this account. Give ids of existing ones in backends.',
);

export const tooManyMembers = defineError(
  20290,
  400,
  'There are {count} ids in backends, where {limit} are allowed. Give fewer, or a backend that stands for some of them.',
);

export const memberCycle = defineError(
  20291,
  400,
  'The backend {id} leads back to {backend}, so that traffic would never arrive. Take it out of backends.',
);

export const nestedTooDeep = defineError(
  20292,
  400,
  'The backends would be nested {depth} deep, where {limit} are allowed. Name the backends at the end directly.',
);

export const allWeightsZero = defineError(
  20293,
  400,
  'Every weight in backends is 0, so nothing would get traffic. Give at least one a weight from 1 to 10000.',
);
