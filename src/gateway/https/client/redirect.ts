import { createServer } from 'node:http';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';

import { quote, UserError } from '../../../errors/user-error.ts';
import { newOperationId } from '../../../lib/ids.ts';
import type { GatewayTimeouts } from '../../engine.ts';
import { hostNotFound, invalidRequest } from '../../errors.ts';
import { parseAuthority } from '../authority.ts';
import { errorAnswer } from '../error-page.ts';
import type { Challenges } from '../../certificates/challenges.ts';
import type { HostTable } from '../routing/host-table.ts';

/** RFC 8555, 8.3. */
const challengePath = '/.well-known/acme-challenge/';
const visibleTarget = /^\/[\x21-\x7e]*$/;

export interface RedirectParts {
  readonly hosts: HostTable;
  readonly challenges: Challenges;
  readonly timeouts: GatewayTimeouts;
  readonly errorPrefix: string;
}

/**
 * Answers plain HTTP: gives certificate authorities the proof they ask for, and redirects known hosts to HTTPS with status
 * 308, which keeps method and body.
 */
export function createRedirectServer({ hosts, challenges, timeouts, errorPrefix }: RedirectParts): Server {
  const server = createServer(
    {
      insecureHTTPParser: false,
      requireHostHeader: false,
      headersTimeout: timeouts.headersMs,
      requestTimeout: timeouts.headersMs,
      keepAliveTimeout: timeouts.keepAliveMs,
      connectionsCheckingInterval: Math.ceil(Math.max(10, Math.min(1000, timeouts.headersMs / 4))),
    },
    (request, response) => {
      if (!proves(request, response, challenges)) redirect(request, response, hosts, errorPrefix);
    },
  );
  // Starts Node's timer for late headers, as in `Http1Server`: connections are handed over, this server never listens.
  server.emit('listening');
  return server;
}

/** False where the request is not one of an authority whose challenge is under way. */
function proves(request: IncomingMessage, response: ServerResponse, challenges: Challenges): boolean {
  const { url = '', headers, method } = request;
  if (!url.startsWith(challengePath)) return false;
  const name = parseAuthority(headers.host ?? '')?.name;
  const text = name === undefined ? undefined : challenges.textFor(name, url.slice(challengePath.length));
  if (text === undefined) return false;
  response.writeHead(200, { 'Content-Type': 'application/octet-stream', 'Content-Length': Buffer.byteLength(text) });
  response.end(method === 'HEAD' ? undefined : text);
  return true;
}

function redirect(request: IncomingMessage, response: ServerResponse, hosts: HostTable, errorPrefix: string): void {
  const hostHeaders = request.rawHeaders.filter((text, at) => at % 2 === 0 && text.toLowerCase() === 'host');
  const host = request.headers.host;
  const authority = hostHeaders.length === 1 && host !== undefined ? parseAuthority(host) : undefined;
  const edge = authority === undefined ? undefined : hosts.find(authority.name);
  const target = request.url ?? '';
  if (authority === undefined || !visibleTarget.test(target)) {
    refuse(
      request,
      response,
      new UserError(invalidRequest, { reason: 'it needs one valid Host header and a path' }),
      errorPrefix,
    );
  } else if (edge === undefined) {
    refuse(request, response, new UserError(hostNotFound, { host: quote(host) }), errorPrefix);
  } else {
    const port = edge.ports.includes(443) ? '' : `:${edge.ports[0] ?? 443}`;
    response.writeHead(308, { Location: `https://${authority.name}${port}${target}`, 'Content-Length': 0 }).end();
  }
}

function refuse(request: IncomingMessage, response: ServerResponse, error: UserError, errorPrefix: string): void {
  const answer = errorAnswer(error, newOperationId(), request.headers.accept ?? '', errorPrefix);
  response.writeHead(answer.status, [...answer.headers, 'Content-Length', String(answer.body.length)]);
  response.end(request.method === 'HEAD' ? undefined : answer.body);
}
