import { defineError } from '../../errors/user-error.ts';

export const prefixNotAPath = defineError(
  20329,
  400,
  'The {field} {prefix} is not acceptable: it {reason}. Give a path such as "/api".',
);

export const prefixRequired = defineError(
  20330,
  400,
  'The module path_rewrite needs "strip_prefix", "add_prefix" or both: paths such as "/api".',
);
