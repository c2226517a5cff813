import { findHeader } from '../../lib/header-list.ts';
import type { Exchange } from './exchange.ts';
import { endsConnection } from './request-context.ts';
import type { RequestContext } from './request-context.ts';

/** A refused body of up to this many bytes is read to its end; a longer one closes the connection. */
const drainedBytes = 262_144;

/** Answers a request without an upstream. `mustClose`: no other one may follow on its connection. */
export function sendOwnAnswer(
  exchange: Exchange,
  context: RequestContext,
  status: number,
  headers: readonly string[],
  body?: Buffer,
  mustClose = false,
): void {
  const close = endsConnection(context, exchange) || mustClose || !leavesConnectionUsable(exchange);
  // An answer without content must not announce a length (RFC 9110, 8.6).
  const contentLength = status === 204 || status === 304 ? undefined : (body?.length ?? 0);
  exchange.sendHead({ status, reason: '', headers, contentLength, close });
  exchange.end(exchange.method === 'HEAD' || body?.length === 0 ? undefined : body, []);
}

/** True if another request may follow on the connection, whether or not the body of this one is read. */
function leavesConnectionUsable({ body, headers, fault, heldBody }: Exchange): boolean {
  // Whoever reads such a request otherwise may also see its end elsewhere.
  if (fault !== undefined) return false;
  if (body === 'none' || heldBody !== undefined) return true;
  // A client that waits for "100 Continue" may or may not send its body after another answer.
  return typeof body === 'object' && body.length <= drainedBytes && findHeader(headers, 'expect') === undefined;
}
