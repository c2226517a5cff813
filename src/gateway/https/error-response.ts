import { connectionPredatesRules } from '../../errors/shared.ts';
import type { UserError } from '../../errors/user-error.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import { errorAnswer } from './error-page.ts';
import type { Exchange } from './exchange.ts';
import { findHeader } from '../../lib/header-list.ts';
import { endsConnection } from './request-context.ts';
import type { RequestContext } from './request-context.ts';

/** A refused body of up to this many bytes is read to its end; a longer one closes the connection. */
const drainedBytes = 262_144;

/** Answers with an error of the gateway's own. Never throws. */
export function sendErrorResponse(
  exchange: Exchange,
  error: UserError,
  context: RequestContext,
  log: AccessLogEntry,
): void {
  try {
    sendError(exchange, error, context, log);
  } catch {
    // The client went away while it was being answered.
    exchange.abort();
  }
}

function sendError(exchange: Exchange, error: UserError, context: RequestContext, log: AccessLogEntry): void {
  const answer = errorAnswer(error, log.operationId, findHeader(exchange.headers, 'accept') ?? '', context.errorPrefix);
  log.status = answer.status;
  log.errorCode = error.code;
  log.reason = error.logged;
  exchange.sendHead({
    status: answer.status,
    reason: '',
    headers: [...answer.headers, ...Object.entries(error.headers).flat()],
    contentLength: answer.body.length,
    close:
      endsConnection(context, exchange) ||
      error.code === connectionPredatesRules.code ||
      !leavesConnectionUsable(exchange),
  });
  exchange.end(exchange.method === 'HEAD' ? undefined : answer.body, []);
}

/** True if another request may follow on the connection, whether or not the body of this one is read. */
export function leavesConnectionUsable({ body, headers, fault, heldBody }: Exchange): boolean {
  // Whoever reads such a request otherwise may also see its end elsewhere.
  if (fault !== undefined) return false;
  if (body === 'none' || heldBody !== undefined) return true;
  // A client that waits for "100 Continue" may or may not send its body after another answer.
  return typeof body === 'object' && body.length <= drainedBytes && findHeader(headers, 'expect') === undefined;
}
