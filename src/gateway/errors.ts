import { defineError } from '../errors/user-error.ts';

export const hostDiffersFromSni = defineError(
  3003,
  421,
  'The TLS connection named {sni}, the request {host}. Use one connection for each host.',
);

export const upstreamInvalidResponse = defineError(3004, 502, 'The upstream server did not answer with valid HTTP.');

export const upstreamConnectTimeout = defineError(
  3005,
  504,
  'The upstream server did not accept the connection in time.',
);

export const upstreamRefused = defineError(3006, 502, 'The upstream server refused the connection.');

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

export const noBackend = defineError(6528, 503, 'There is no backend behind {host}{path} at the moment.');

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

export const unloadable = defineError(
  20077,
  503,
  'Nothing is served at {host} at the moment: this gateway cannot load {what} of its configuration. The log of the gateway says why.',
);
