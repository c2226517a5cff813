import { connectionPredatesRules } from '../../errors/shared.ts';
import type { UserError } from '../../errors/user-error.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import { errorAnswer } from './error-page.ts';
import type { Exchange } from './exchange.ts';
import { findHeader } from '../../lib/header-list.ts';
import { sendOwnAnswer } from './own-answer.ts';
import type { RequestContext } from './request-context.ts';

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
  log.refuse(error);
  const headers = [...answer.headers, ...Object.entries(error.headers).flat()];
  sendOwnAnswer(exchange, context, answer.status, headers, answer.body, error.code === connectionPredatesRules.code);
}
