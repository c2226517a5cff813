import { defineError } from '../../errors/user-error.ts';

export const agentTokenMalformed = defineError(
  105,
  401,
  'The authtoken does not have the form of a token of a credential. Give the whole token as it was shown when the credential was created.',
);

export const agentTokenUnknown = defineError(
  107,
  401,
  'The authtoken is not valid: no credential of this server has it, or the credential was deleted. Check that the whole token is given, and that it is neither an API key nor of another server, or create another credential.',
);

export const tooManySessions = defineError(
  108,
  403,
  'The credential {credential} has {limit} sessions, as many as one may have. Close some, use another credential, or raise GATEHOUSE_AGENT_MAX_SESSIONS.',
);

export const credentialOwnerInactive = defineError(
  300,
  403,
  'The owner of this credential is not active, or a viewer. Ask an admin to activate the owner or to make them a member, or use a credential of another one.',
);

export const endpointOnline = defineError(
  334,
  409,
  'The endpoint {url} is online already. Close it, ask for another name, or ask for pooling on both sides to share its visitors.',
);

export const agentSourceRefused = defineError(
  3206,
  403,
  'Agents may not connect from {address}: an IP restriction of this account refuses it. Connect from an address its IP policies allow, or ask an administrator to change them.',
);

export const nameNotAvailable = defineError(
  20092,
  409,
  'The name {name} is not available. Ask for another name, or leave it out to get one. To serve an edge of your own, give the agent a label instead of a name (--label app=shop), and give the edge a tunnel_group backend with that label.',
);

export const httpsSwitchedOff = defineError(
  20093,
  403,
  'HTTP and TLS endpoints are not served here, because GATEHOUSE_HTTPS_LISTEN is "off". Set it, or open a TCP endpoint.',
);

export const poolDiffers = defineError(
  20094,
  409,
  'The endpoint {url} is online with other options. All agents that share an endpoint must ask for the same options; these differ: {differing}.',
);

export const bindRefusedByAcl = defineError(
  20095,
  403,
  'The credential {credential} may not bind {asked}. Its acl allows: {allowed}. Ask for one of these, or change the acl.',
);

export const invalidAgentName = defineError(20096, 400, '{asked} cannot be bound: {reason}.');

export const portNotAvailable = defineError(
  20097,
  409,
  'The port {port} is not available. Ask for another one, or leave the address out to get one.',
);

export const portShareUsed = defineError(
  20368,
  503,
  'Few ports of {ports} are free, and they are kept for other accounts: this account has its share of {share}. Close an endpoint, delete what has a port, or ask the operator to widen GATEHOUSE_TCP_PORTS.',
);

export const noFreeAgentPort = defineError(
  20098,
  503,
  'Every port of {ports} is in use. Close an endpoint, or widen GATEHOUSE_TCP_PORTS.',
);

export const nameNotReserved = defineError(
  20099,
  403,
  'The name {name} is not reserved by this account, and only names below {domain} need no reservation. Reserve it (POST /reserved_domains), or ask for a name below {domain}.',
);

export const wildcardNotReserved = defineError(
  20285,
  403,
  'The wildcard {name} is not reserved by this account, and without a reservation only single names are available. Reserve it (POST /reserved_domains), or ask for the names one by one.',
);

export const commandUnsupported = defineError(
  20134,
  409,
  'The agent cannot carry out the command {command}: {reason}.',
);

export const commandUnanswered = defineError(
  20135,
  504,
  'The agent did not answer the command {command} within {seconds} seconds. It may not handle this command.',
);

export const notSessionOwner = defineError(
  20160,
  403,
  'The session {session} belongs to a credential of another owner. Only that owner or an admin may command its agent.',
);

export const sessionLost = defineError(
  20161,
  503,
  'This session is being closed: a newer one of the same agent has replaced it, or the database no longer knows it. Connect again.',
);

export const internalUrlMissing = defineError(
  9028,
  400,
  'An endpoint with the binding "internal" needs a URL. Give it one that ends with .internal, such as https://app.internal.',
);

export const internalNameDiffers = defineError(
  9029,
  400,
  'The endpoint {url} cannot be internal: the name of an internal endpoint ends with .internal. Choose such a name, or leave the binding out.',
);

export const internalPort = defineError(
  9030,
  400,
  'The URL {url} of the internal endpoint has no port, or one that is not from 1 to 65535. Write it like tcp://db.internal:5432.',
);

export const internalNameTooDeep = defineError(
  9031,
  400,
  'The name in {url} has too many parts: an internal name has {limit} before .internal at most. Choose a shorter one.',
);

export const internalUrlInvalid = defineError(
  9034,
  400,
  'The URL {url} of the internal endpoint is not acceptable: {reason}. Write it like https://app.internal.',
);

export const internalScheme = defineError(
  9036,
  400,
  'The URL {url} does not have the scheme {scheme}, which the agent has asked for. Give both alike.',
);

export const urlPartRefused = defineError(
  9037,
  400,
  'The URL {url} cannot be bound, because it has the {name} {part}. Leave that out: an endpoint has a scheme, a host and a port.',
);

export const internalNameIsPublic = defineError(
  20383,
  400,
  'The endpoint {url} cannot be public: names that end with .internal are reached from inside the account alone. Leave the binding out, or choose another name.',
);

export const notForInternal = defineError(
  20384,
  400,
  'An internal endpoint cannot have {options}: TLS ends at the endpoint that forwards to it. Leave this option out.',
);

export const twoPolicies = defineError(
  9025,
  400,
  'The agent sends a traffic policy twice, as Policy and as TrafficPolicy. Give it TrafficPolicy alone.',
);

export const invalidTrafficPolicy = defineError(9026, 400, 'The traffic policy is not acceptable: {reason}');
