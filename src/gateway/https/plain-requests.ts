import { quote, UserError } from '../../errors/user-error.ts';
import type { Challenges } from '../certificates/challenges.ts';
import { hostNotFound, invalidRequest } from '../errors.ts';
import { AccessLogEntry } from './access-log-entry.ts';
import { parseAuthority } from './authority.ts';
import { sendErrorResponse } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import { handleRequest } from './handle-request.ts';
import { sendOwnAnswer } from './own-answer.ts';
import type { RequestContext } from './request-context.ts';

/** RFC 8555, 8.3. */
const challengePath = '/.well-known/acme-challenge/';
const visibleTarget = /^\/[\x21-\x7e]*$/;

/**
 * Answers a request without TLS: gives certificate authorities the proof they ask for, serves edges that are served without
 * TLS, and redirects the other known hosts to HTTPS with status 308, which keeps method and body.
 */
export function handlePlainRequest(exchange: Exchange, context: RequestContext, challenges: Challenges): void {
  const { host, target, fault } = exchange;
  const authority = host === undefined || fault !== undefined ? undefined : parseAuthority(host);
  const proof =
    authority !== undefined && target.startsWith(challengePath)
      ? challenges.textFor(authority.name, target.slice(challengePath.length))
      : undefined;
  if (proof !== undefined) {
    sendOwnAnswer(exchange, context, 200, ['Content-Type', 'application/octet-stream'], Buffer.from(proof));
    return;
  }
  const isServed = authority !== undefined && context.hosts.allPlain(authority.name).length > 0;
  const edge = authority === undefined ? undefined : context.hosts.find(authority.name);
  if (isServed) handleRequest(exchange, context);
  else if (authority === undefined || !visibleTarget.test(target))
    refuse(exchange, context, new UserError(invalidRequest, { reason: 'it needs one valid Host header and a path' }));
  else if (edge === undefined) refuse(exchange, context, new UserError(hostNotFound, { host: quote(host) }));
  else {
    const port = edge.ports.includes(443) ? '' : `:${edge.ports[0] ?? 443}`;
    sendOwnAnswer(exchange, context, 308, ['Location', `https://${authority.name}${port}${target}`]);
  }
}

/** Not logged: it concerns no account. */
function refuse(exchange: Exchange, context: RequestContext, error: UserError): void {
  sendErrorResponse(exchange, error, context, new AccessLogEntry(exchange));
}
