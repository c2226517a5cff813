import { defineError } from '../../errors/user-error.ts';

export const invalidExpression = defineError(
  2200,
  400,
  'The expression at {path} of the traffic policy is not acceptable: {reason}.',
);

export const unknownAction = defineError(
  2201,
  400,
  'The traffic policy names the action {type} at {path}, which is not offered: {reason}.',
);

export const actionNotInPhase = defineError(
  2202,
  400,
  'The action {type} at {path} of the traffic policy does not belong there. Put it into {phases}.',
);

export const invalidConfig = defineError(2203, 400, 'The traffic policy cannot be read at {path}: {reason}.');

export const invalidValue = defineError(
  2204,
  400,
  'The value at {path} of the traffic policy is not acceptable: {reason}.',
);

export const actionNotForProtocol = defineError(
  2205,
  400,
  'The action {type} at {path} of the traffic policy does not work there at an endpoint of {scheme}. {remedy}.',
);

export const noActions = defineError(
  2206,
  400,
  'The rule at {path} of the traffic policy has no action. Give at least one in actions, or leave the rule out.',
);

export const unreachableAction = defineError(
  2207,
  400,
  'The traffic policy never comes to {path}, because {before} always ends the phase. Take one of them away, or change their order.',
);

export const invalidHeaderInPolicy = defineError(
  2208,
  400,
  'The header name at {path} of the traffic policy is not acceptable: {reason}.',
);

export const invalidHeaderValueInPolicy = defineError(
  2209,
  400,
  'The header value at {path} of the traffic policy is not acceptable: {reason}.',
);

export const numberOutOfRange = defineError(
  2215,
  400,
  'The number at {path} of the traffic policy must be from {least} to {most}, and is {value}.',
);

export const ipPolicyUnknown = defineError(
  2216,
  400,
  'The traffic policy names {id}, which is no IP policy of this account. GET /ip_policies lists them.',
);

export const invalidCidrInPolicy = defineError(
  2217,
  400,
  '{cidr} at {path} of the traffic policy is no range of addresses: it {reason}.',
);

export const tooLong = defineError(
  2221,
  400,
  'The traffic policy is too long at {path}: {length}, where {limit} are allowed. {remedy}',
);

export const notOneOf = defineError(
  2222,
  400,
  'The value {value} at {path} of the traffic policy is not one of those that are possible: {all}.',
);

export const invalidInterpolation = defineError(
  2224,
  400,
  'The value at {path} of the traffic policy has an expression that is not acceptable: {reason}.',
);

export const durationOutOfRange = defineError(
  2225,
  400,
  'The duration at {path} of the traffic policy must be from {least} to {most}, as in "10s" or "2m", and is {value}.',
);

export const invalidUrl = defineError(
  2226,
  400,
  'The URL at {path} of the traffic policy is not acceptable: {reason}.',
);

export const phaseNotForProtocol = defineError(
  2230,
  400,
  'The traffic policy has rules in {phase}, which {what} never comes to. It has {phases}.',
);

export const missingValue = defineError(2234, 400, 'The traffic policy lacks {field} at {path}. Add it.');

export const trafficNotEnded = defineError(
  2235,
  400,
  'The traffic policy leaves open what becomes of a visit, and nothing is behind this endpoint. End {phase} with a rule without expressions whose last action is custom-response, deny, close-connection or forward-internal (without on_error: continue).',
);

export const unreadablePolicy = defineError(2236, 400, 'The traffic policy cannot be read: {reason}.');

export const severalLogins = defineError(
  2239,
  400,
  'The traffic policy asks for several logins, and the one at {path} has no name of its own. Keep one oauth or openid-connect, or give each another auth_id.',
);

export const connectPhaseOfRoute = defineError(
  2248,
  400,
  'The traffic policy has rules in on_tcp_connect, which routes do not have: several routes share a connection. Put them into on_http_request.',
);

export const connectPhaseOfInternal = defineError(
  2262,
  400,
  'The traffic policy has rules in on_tcp_connect, which internal endpoints of HTTP do not have: no connection comes to them. Put them into on_http_request.',
);

export const varsTooDeep = defineError(
  2250,
  400,
  'The variable at {path} of the traffic policy is nested deeper than {limit} levels. Make it flatter.',
);

export const invalidVars = defineError(
  2252,
  400,
  'The variables at {path} of the traffic policy are not acceptable: {reason}.',
);

export const tooManyElements = defineError(
  2255,
  400,
  'The traffic policy has {count} elements at {path}, where {limit} are allowed. Give fewer.',
);

export const tooManyRules = defineError(
  2264,
  400,
  'The traffic policy has {count} rules in {path}, where {limit} are allowed. Join some of them.',
);

export const ruleTooLarge = defineError(
  2265,
  400,
  'The traffic policy has {count} {what} at {path}, where {limit} are allowed. Divide the rule.',
);

export const invalidUserName = defineError(
  2257,
  400,
  'The credential at {path} of the traffic policy is not acceptable: {reason}.',
);

export const invalidPassword = defineError(
  2258,
  400,
  'The password at {path} of the traffic policy is not acceptable: {reason}.',
);

export const invalidRegex = defineError(
  2261,
  400,
  'The regular expression at {path} of the traffic policy is not acceptable: {reason}.',
);

export const twoPolicies = defineError(
  20391,
  400,
  'The modules policy and traffic_policy are both switched on. Keep one: traffic_policy takes inbound as on_http_request (on_tcp_connect for TCP and TLS), and outbound as on_http_response.',
);
