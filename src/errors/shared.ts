import { defineError } from './user-error.ts';

export const internalError = defineError(
  20000,
  500,
  'Something went wrong on our side. The operation id names it in the log of the server.',
);

export const malformedRequest = defineError(20024, 400, 'The request could not be understood as HTTP: {reason}.');

export const headersTooLarge = defineError(
  20025,
  431,
  'The request headers are too large. Send fewer or shorter headers.',
);

export const requestTimeout = defineError(20026, 408, 'The request was not complete in time. Send it again.');

export const notAnIpPolicyId = defineError(
  229,
  400,
  '{field} holds {id}, which is not the id of an IP policy: it must start with "ipp_".',
);

export const vaultNameUnknown = defineError(
  24009,
  400,
  'This account has no {what}, which is named here or in the traffic policy. Create it (POST /vaults, POST /vault_secrets), or name an existing one.',
);

export const duplicateEntry = defineError(20009, 400, '{field} names {id} more than once. Name each once.');

export const refusedByModule = defineError(
  3203,
  403,
  'Your address {address} is not allowed here (IP restriction of this edge or route).',
);

export const refusedByPolicy = defineError(20377, 403, 'You are not allowed here (traffic policy of this endpoint).');

export const policyRuleFailed = defineError(
  2254,
  500,
  'A rule of the traffic policy that guards this endpoint could not be decided, so that nobody passes: {path}: {reason}.',
);

export const requestTooLongAnswer = defineError(
  3601,
  502,
  'The answer to a request of the traffic policy has more than {bytes} bytes.',
);

export const requestTimedOut = defineError(
  3602,
  504,
  'A request of the traffic policy was not answered in time. Ask the owner of the endpoint, or give it a longer timeout.',
);

export const requestBroken = defineError(
  20393,
  502,
  'A request of the traffic policy got no answer: the server cannot be reached, or the connection ended before the answer was complete. Check the server, and its name and port in the policy.',
);

export const requestNotPossible = defineError(
  20394,
  500,
  'A request of the traffic policy cannot be made: {reason}. Check the values from which the policy makes it.',
);

export const requestLoop = defineError(
  3603,
  508,
  'Requests of traffic policies lead to one another, more than {limit} deep. Take one of them away.',
);

export const tooManyRequests = defineError(
  20390,
  503,
  'The traffic policies of this account make too many requests: {limit} are possible for one visitor, and some at a time. Make fewer.',
);

export const policyValueFailed = defineError(
  2238,
  500,
  'The traffic policy of this endpoint could not be carried out: {path}: {reason}.',
);

export const policyPathAmbiguous = defineError(
  20378,
  400,
  'The path can be read in several ways, with "//", ";" or "%25", and the traffic policy of this endpoint tells them apart. Write it in one way.',
);

export const circuitOpenByPolicy = defineError(
  3202,
  503,
  'The upstream server has failed too often lately, and is spared for a moment (circuit breaker of the traffic policy). Try again later.',
);

export const refusedByRestriction = defineError(
  3205,
  403,
  'Your address {address} is not allowed here (IP restriction of this account).',
);

export const agentStreamsInUse = defineError(
  20150,
  503,
  'The agent has as many open connections as it may have. Try again later, or start another agent for the same endpoint, with ' +
    'pooling; the operator can raise GATEHOUSE_AGENT_MAX_STREAMS, or GATEHOUSE_AGENT_RUST_STREAMS for agents that take more.',
);

export const optionsRefused = defineError(
  20131,
  400,
  'Not offered here: {options}. The endpoint was not opened, because it would not treat visitors as you asked. Leave the option out, or do the same in the program behind the agent.',
);

export const credentialsRequired = defineError(
  20151,
  401,
  'You need a user name and a password here. Send them with basic authentication.',
);

export const signInRequired = defineError(20309, 401, 'You have to sign in here first, in a browser: {url}');

/** Told to operators; visitors see a page. */
export const visitorRefused = defineError(
  20371,
  403,
  '{who} has signed in, but is not among those who may enter. Change the rules of the sign-in if they should be.',
);

export const providerUnavailable = defineError(20372, 503, '{provider} does not answer, so that nobody can sign in.');

export const loginFailed = defineError(
  20373,
  403,
  'The login came back from {provider} without being confirmed. The log of the gateway says why.',
);

export const tokenRequired = defineError(
  20324,
  401,
  'You need a token here, and the request has none that can be read. Send a token of the issuer.',
);

export const tokenRefused = defineError(
  20325,
  401,
  'The token is not accepted here: {reason}. Send another token of the issuer.',
);

export const tokensUnchecked = defineError(
  20326,
  503,
  'Tokens cannot be checked at the moment: the keys of their issuer cannot be read. Try again later.',
);

export const tooManyTokenChecks = defineError(20367, 503, 'Too many tokens wait to be checked here. Try again later.');

export const tooManyWrongPasswords = defineError(
  20282,
  429,
  'Too many wrong passwords have come from {source}. Wait {seconds} seconds, then send the right one.',
);

export const userAgentRefused = defineError(
  20152,
  403,
  'Your program is not allowed here (this endpoint filters by the header User-Agent).',
);

export const clientCertificateRequired = defineError(
  20181,
  403,
  'You need a client certificate here, and your program showed none. Connect with one that an authority of this endpoint has signed.',
);

export const clientCertificateRefused = defineError(
  20182,
  403,
  'Your certificate {subject} is not accepted here: {reason}. Connect with one that is valid and that an authority of this endpoint has signed for clients.',
);

export const rateLimited = defineError(
  20350,
  429,
  'Too many requests: {limit} are allowed within {window} seconds. Try again in {seconds} seconds.',
);

export const connectionPredatesRules = defineError(
  20184,
  421,
  'This connection was opened before its host asked for a certificate, or when it accepted other authorities. Open a new one.',
);

export const unloadable = defineError(
  20077,
  503,
  'Nothing is served at {host} at the moment: this gateway cannot load {what} of its configuration. The log of the gateway says why.',
);

export const upgradeNotVerified = defineError(
  20343,
  403,
  'Requests here must be signed, and what follows an upgrade is not. Send the request without Upgrade.',
);

export const webhookRefused = defineError(
  3204,
  403,
  'This is not accepted as a webhook of {provider}: {reason}. Check the secret on both sides, and the clock of the sender.',
);

export const webhookRefusedUnauthorized = defineError(
  20340,
  401,
  'This is not accepted as a webhook of {provider}: {reason}. Check the secret on both sides.',
);

export const nameOfInstallation = defineError(
  20279,
  409,
  '{hostname} is, covers or lies below {name}, which belongs to this installation ({setting}), so that no account can have it. Choose another host name, such as app.localhost for a trial. These belong to the installation: {all}.',
);

export const wildcardOverSuffix = defineError(
  20280,
  400,
  '{hostname} would cover all of {suffix}, which is a public suffix: anybody can have names below it. Give the names one by one, or a wildcard below a domain of your own.',
);

export const overQuota = defineError(
  20284,
  403,
  'The quota {quota} of this account is {limit}, {used} are used, and this would exceed it. Delete some that you do not need, or ask the operator of the installation to raise it: gatehouse accounts quotas --account {account} --set {quota}=NUMBER. GET /quotas shows all quotas.',
);

export const policiesTooLarge = defineError(
  20392,
  403,
  'This traffic policy would take about {kib} KiB of memory once it is built, beside {others} KiB that the others of this account take, where its quota {quota} is {limit} KiB. Give it fewer rules, expressions and regular expressions, name ranges of addresses in an IP policy, delete policies that you do not need, or ask the operator of the installation to raise it: gatehouse accounts quotas --account {account} --set {quota}=NUMBER. GET /quotas shows all quotas.',
);

export const heldBodiesInUse = defineError(
  20342,
  503,
  'Too many bodies of requests and answers that rules check or change are held at once. Try again later.',
);
