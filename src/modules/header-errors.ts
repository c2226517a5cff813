import { defineError } from '../errors/user-error.ts';

export const tooManyHeaders = defineError(
  7015,
  400,
  'The module {field}s {count} headers, where {limit} are allowed. Name fewer.',
);

export const invalidHeaderName = defineError(7023, 400, 'The header name {name} is not acceptable: {reason}.');

export const invalidHeaderValue = defineError(7024, 400, 'The value of the header {name} is not acceptable: {reason}.');

export const duplicateHeader = defineError(
  7069,
  400,
  'The header {name} is given twice, in different case. Header names do not depend on case: give it once.',
);

export const headerNameTooLong = defineError(
  7105,
  400,
  'The header name {name} is too long: {bytes} bytes, where {limit} are allowed.',
);

export const headerValueTooLong = defineError(
  7106,
  400,
  'The value of the header {name} is too long: {bytes} bytes, where {limit} are allowed.',
);

export const hostRemoved = defineError(
  7164,
  400,
  'The header "host" can be removed only together with an added one: upstreams need it. Add "host" too.',
);

export const connectionHeader = defineError(
  20017,
  400,
  'The header {name} cannot be {verb}: it belongs to the connection and is set by the gateway itself.',
);
