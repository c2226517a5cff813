import { defineError } from '../errors/user-error.ts';

export const hostDiffersFromSni = defineError(
  3003,
  421,
  'The TLS connection named {sni}, the request {host}. Use one connection for each host.',
);

export const websocketRequired = defineError(
  20185,
  400,
  'This endpoint serves WebSocket connections only, and this is not one: {reason}. Connect to it by "wss://".',
);

export const upstreamInvalidResponse = defineError(3004, 502, 'The upstream server did not answer with valid HTTP.');

export const upstreamConnectTimeout = defineError(
  3005,
  504,
  'The upstream server did not accept the connection in time.',
);

export const upstreamRefused = defineError(3006, 502, 'The upstream server refused the connection.');

export const upstreamNameUnknown = defineError(
  20192,
  502,
  'The host name of the upstream server cannot be found. Check the address of the backend, and the DNS of the gateway.',
);

export const upstreamTlsFailed = defineError(
  20193,
  502,
  'The upstream server does not speak TLS at its address, or not in a form that the gateway accepts. Set tls.enabled of the backend to false, or give the port that speaks TLS.',
);

export const upstreamCertificateRefused = defineError(
  20194,
  502,
  'The certificate of the upstream server is not trusted, or not valid for its name. The operator can name its authority in GATEHOUSE_UPSTREAM_CA.',
);

export const upstreamBroke = defineError(
  3007,
  502,
  'The connection to the upstream server broke before the answer was complete.',
);

export const upstreamTimeout = defineError(3008, 504, 'The upstream server did not answer in time.');

export const backendLeadsInwards = defineError(
  20110,
  502,
  'The backend behind this address cannot be used. The log of the gateway says why.',
);

export const hostNotFound = defineError(3200, 404, 'Nothing is served at {host}.');

/** Shares the number of `hostNotFound`, as in the public service: here the endpoint is known, and may come back. */
export const endpointOffline = defineError(
  3200,
  503,
  'The endpoint is offline: no agent is connected that serves it. Start the agent, or try again when it is back.',
);

/** The endpoint behind another one; its name is nobody's business outside of the account. */
export const internalOffline = defineError(
  3200,
  503,
  'The internal endpoint that this one forwards to is offline. Start its agent, or check the URL in the traffic policy.',
);

export const tooManyHops = defineError(
  3501,
  508,
  'A visitor is forwarded through {limit} internal endpoints at most, and there are more here. Check that their traffic policies do not forward to each other in a circle.',
);

export const agentUpstreamDown = defineError(
  8012,
  502,
  'The agent was reached, but not the program behind it: the connection ended without an answer. Check that the program runs at the address the agent forwards to.',
);

export const linkUnread = defineError(
  20136,
  503,
  'The visitors of agents leave too much unread on one link between processes: the slowest of them was cut off. The operator can ' +
    'raise GATEHOUSE_LINK_UNREAD_MIB.',
);

/** Stands in the log; the visitor gets `endpointOffline`. */
export const linkUnreachable = defineError(
  20137,
  503,
  'The process that holds the sessions of some agents cannot be reached, so that their endpoints are offline here. Check that ' +
    'GATEHOUSE_LINK_LISTEN of that process is an address which this one reaches, or set GATEHOUSE_LINK_ADDRESS there.',
);

/** Stands in the log. */
export const ratePeerUnreachable = defineError(
  20353,
  503,
  'This gateway cannot reach another one to count rate limits together: until it can, each of the two counts alone. Check that GATEHOUSE_LINK_LISTEN of that process is an address which this one reaches, or set GATEHOUSE_LINK_ADDRESS there.',
);

export const tooManyWaitForAgents = defineError(
  20140,
  503,
  'The agent is reconnecting, and too many visitors wait for agents. Try again later; the operator can raise GATEHOUSE_AGENT_WAITING.',
);

export const noBackend = defineError(6528, 503, 'There is no backend behind {host}{path} at the moment.');

export const allAddressesDown = defineError(
  20319,
  503,
  'No address of the backend answers at the moment, and the backend is set to fail closed. Try again later.',
);

export const routeNotMatched = defineError(20100, 404, 'No route of {host} matches the path {path}.');

export const invalidPath = defineError(20101, 400, 'The request path is not acceptable: {reason}.');

export const invalidRequest = defineError(20102, 400, 'The request is not acceptable: {reason}.');

export const versionNotServed = defineError(
  20123,
  505,
  'HTTP/{version} is not served here. Use HTTP/1.1 or HTTP/1.0, or agree on HTTP/2 in the TLS handshake.',
);

export const methodNotServed = defineError(
  20124,
  501,
  'The method {method} is not served here: an answer to it repeats headers that only the upstream server may see. Use another method.',
);

export const upgradeNotServed = defineError(
  20125,
  400,
  'An upgrade to {protocol} is not served here: {reason}. Offer "websocket", or leave the header Upgrade out.',
);

export const expectationFailed = defineError(20103, 417, 'The expectation {expectation} cannot be met.');

export const backendConnectionsInUse = defineError(
  20114,
  503,
  'All connections to the backend are in use. Try again later; the operator can raise GATEHOUSE_BACKEND_CONNECTIONS.',
);

export const backendSourceConnectionsInUse = defineError(
  20126,
  429,
  'All connections to the backend that one address may have are in use. Use fewer at once, or try again later; the operator ' +
    'can raise GATEHOUSE_BACKEND_SOURCE_CONNECTIONS, or name a proxy in GATEHOUSE_TRUSTED_PROXIES.',
);

export const backendSourceQueueFull = defineError(
  20127,
  429,
  'Too many requests of one address wait for a connection to the backend. Use fewer at once, or try again later; the ' +
    'operator can raise GATEHOUSE_BACKEND_SOURCE_QUEUE or GATEHOUSE_BACKEND_SOURCE_CONNECTIONS.',
);

export const backendQueueFull = defineError(
  20115,
  503,
  'All connections to the backend are in use, and too many requests wait for one. Try again later; the operator can raise ' +
    'GATEHOUSE_BACKEND_QUEUE or GATEHOUSE_BACKEND_CONNECTIONS.',
);

export const backendQueueOverdue = defineError(
  20116,
  503,
  'No connection to the backend became free in time. Try again later; the operator can raise ' +
    'GATEHOUSE_BACKEND_QUEUE_SECONDS or GATEHOUSE_BACKEND_CONNECTIONS.',
);

export const accountConnectionsInUse = defineError(
  20117,
  503,
  'All connections to the backends of this account are in use. Try again later; the operator can raise ' +
    'GATEHOUSE_ACCOUNT_CONNECTIONS.',
);

export const upstreamConnectionsInUse = defineError(
  20118,
  503,
  'All connections to backends are in use. Try again later; the operator can raise GATEHOUSE_UPSTREAM_CONNECTIONS, and the ' +
    'limit of open files with it.',
);

export const tooManyClientConnections = defineError(
  20119,
  503,
  'Too many clients are connected: new connections are closed. The operator can raise GATEHOUSE_CLIENT_CONNECTIONS, and ' +
    'the limit of open files with it.',
);

export const tooManySourceConnections = defineError(
  20120,
  429,
  'Too many connections from one address: new ones are closed. Use fewer connections; the operator can raise ' +
    'GATEHOUSE_SOURCE_CONNECTIONS, or name a proxy in GATEHOUSE_TRUSTED_PROXIES.',
);

export const tooManyStreamResets = defineError(
  20121,
  429,
  'Too many requests were cancelled before their answer: the HTTP/2 connection is closed. Open a new one; the operator can ' +
    'raise GATEHOUSE_STREAM_RESETS.',
);

export const responseEncodersInUse = defineError(
  20122,
  503,
  'All encoders of responses are in use, so responses are sent uncompressed. The operator can raise GATEHOUSE_RESPONSE_ENCODERS.',
);

export const heldBodyTooLarge = defineError(
  20341,
  413,
  'The body has more than {bytes} bytes, the most that can be verified here. Send less, or let the upstream server verify it.',
);
