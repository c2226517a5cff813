import { leavesConnectionUsable } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import { endsConnection } from './request-context.ts';
import type { RequestContext } from './request-context.ts';

/** Answers a request without an upstream. */
export function sendOwnAnswer(
  exchange: Exchange,
  context: RequestContext,
  status: number,
  headers: readonly string[],
  body?: Buffer,
): void {
  const close = endsConnection(context, exchange) || !leavesConnectionUsable(exchange);
  // An answer without content must not announce a length (RFC 9110, 8.6).
  const contentLength = status === 204 || status === 304 ? undefined : (body?.length ?? 0);
  exchange.sendHead({ status, reason: '', headers, contentLength, close });
  exchange.end(exchange.method === 'HEAD' || body?.length === 0 ? undefined : body, []);
}
