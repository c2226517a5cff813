import { defineError } from '../../errors/user-error.ts';

export const policyNotFound = defineError(
  1402,
  400,
  'There is no IP policy {id} in this account. Give the id of an existing one.',
);

export const ruleNotFound = defineError(
  1404,
  404,
  'There is no {noun} with the id {id}. Check the id, or list them to see which exist.',
);

export const ruleFieldRequired = defineError(
  1405,
  400,
  'The field {field} of an IP policy rule is required. Send it in the body.',
);

export const invalidCidr = defineError(
  1406,
  400,
  '{cidr} is not a CIDR: {reason}. Write it like 203.0.113.0/24 or 2001:db8::/32.',
);

export const duplicateRule = defineError(
  1408,
  409,
  'The IP policy {policy} already has a rule for {cidr} ({rule}). Change or delete that one first.',
);

export const hostBitsSet = defineError(
  1409,
  400,
  '{cidr} is not the first address of its range. Did you mean {suggestion}?',
);

export const tooManyRules = defineError(
  1411,
  400,
  'A policy takes at most {limit} rules in one call, not {count}. Spread them over several policies.',
);

export const maskMissing = defineError(1413, 400, '{cidr} has no mask. Did you mean {suggestion}?');

export const notAPolicyOfRule = defineError(
  1414,
  400,
  'ip_policy_id {id} is not the id of an IP policy: it must start with "ipp_".',
);

export const ruleDescriptionTooLong = defineError(
  1421,
  400,
  'The description is too long: {bytes} bytes, where 255 are allowed (in UTF-8). Shorten it.',
);

export const unknownAction = defineError(1422, 400, 'The action {action} is unknown. Give "allow" or "deny".');

export const invalidRuleLine = defineError(20016, 400, 'Line {line} of the rule list: {reason}');

export const rulesNotKept = defineError(
  20410,
  400,
  'The configuration of that moment is not known: the change log does not hold the rules that the IP policy {policy} had before version {version}. Ask for version {version}, or a later moment.',
);
