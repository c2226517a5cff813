import { defineError } from '../../errors/user-error.ts';

export const tooManyEntries = defineError(
  20211,
  413,
  'The configuration has {count} entries, where {limit} are allowed. Split it over several calls, without pruning, or raise the setting configuration_entries (GATEHOUSE_CONFIGURATION_ENTRIES) on the host.',
);

export const duplicateName = defineError(
  20212,
  400,
  'The name {name} is declared twice, by {first} and {second}. Names of one kind, and those of all backends, must differ.',
);

export const unknownName = defineError(
  20213,
  400,
  'There is no {noun} with the name {name}. Declare it in the configuration, or check the name.',
);

export const nameOfOtherKind = defineError(
  20214,
  409,
  'The name {name} belongs to one of {kind} already. Delete that one, or choose another name.',
);

export const invalidMoment = defineError(
  20407,
  400,
  '{at} is no moment. Give a time in RFC 3339 form, such as 2026-11-14T10:11:14Z, or the version of a change.',
);

export const momentNotKept = defineError(
  20408,
  400,
  'The configuration as of {at} is not known: the change log goes back to {earliest}. Ask for that moment, or a later one.',
);

export const momentToCome = defineError(
  20409,
  400,
  'There is no version {at} yet. Ask for the version of a change, or for a time.',
);

export const tooManyMoments = defineError(
  20411,
  429,
  'Earlier moments of this account are being read already, and {count} calls wait for their turn. Try again shortly.',
);
