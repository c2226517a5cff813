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
