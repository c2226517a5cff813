import { internalError } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { AccessLogEntry } from './access-log-entry.ts';
import { decide } from './decide.ts';
import { sendErrorResponse } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import { Relay } from './relay.ts';
import type { RequestContext } from './request-context.ts';

/** Decides on one request and carries it out, or answers with an error. */
export function handleRequest(exchange: Exchange, context: RequestContext): void {
  carryOut(exchange, context, new AccessLogEntry(exchange));
}

export function carryOut(exchange: Exchange, context: RequestContext, log: AccessLogEntry): void {
  exchange.onClose = () => {
    log.report(context.observer);
  };
  try {
    new Relay(decide(exchange, context, log), context, log).start();
  } catch (error) {
    refuse(exchange, context, log, error);
  }
}

function refuse(exchange: Exchange, context: RequestContext, log: AccessLogEntry, error: unknown): void {
  if (error instanceof UserError) {
    sendErrorResponse(exchange, error, context, log);
  } else {
    context.log.error({ err: error, operation_id: log.operationId }, 'request failed');
    sendErrorResponse(exchange, new UserError(internalError), context, log);
  }
}
