import { internalError } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { OwnAnswer } from '../sign-in/own-answer.ts';
import { AccessLogEntry } from './access-log-entry.ts';
import { decide } from './decide.ts';
import type { HeldRequest } from './decide.ts';
import { sendErrorResponse } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import { holdBody } from './hold-body.ts';
import { sendOwnAnswer } from './own-answer.ts';
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
    const decided = decide(exchange, context, log);
    if ('pool' in decided) {
      new Relay(decided, context, log).start();
    } else if ('location' in decided) {
      log.status = decided.status;
      sendOwnAnswer(exchange, context, decided.status, decided.headers);
    } else if ('holds' in decided) {
      hold(decided, exchange, context, log);
    } else {
      const { status, headers, body } = decided.answer;
      log.status = status;
      sendOwnAnswer(exchange, context, status, headers, Buffer.from(body));
    }
  } catch (error) {
    refuse(exchange, context, log, error);
  }
}

/** Decides again when the body is there: rules may have changed while it came. */
function hold(
  { accountId, holds }: HeldRequest,
  exchange: Exchange,
  context: RequestContext,
  log: AccessLogEntry,
): void {
  const { heldBodies: bodies } = context;
  const { maxBytes } = holds;
  holdBody({
    exchange,
    accountId,
    maxBytes,
    bodies,
    log,
    done: (body) => {
      exchange.heldBody = body;
      carryOut(exchange, context, log);
    },
    fail: (error) => {
      refuse(exchange, context, log, error);
    },
  });
}

function refuse(exchange: Exchange, context: RequestContext, log: AccessLogEntry, error: unknown): void {
  if (error instanceof OwnAnswer) {
    void answerOwn(exchange, context, log, error);
  } else if (error instanceof UserError) {
    sendErrorResponse(exchange, error, context, log);
  } else {
    context.log.error({ err: error, operation_id: log.operationId }, 'request failed');
    sendErrorResponse(exchange, new UserError(internalError), context, log);
  }
}

/** Nothing of the request has been read but its head: it can be decided on again. */
async function answerOwn(
  exchange: Exchange,
  context: RequestContext,
  log: AccessLogEntry,
  { make }: OwnAnswer,
): Promise<void> {
  let isGone = false;
  exchange.onClose = () => {
    isGone = true;
    log.report(context.observer);
  };
  try {
    const answer = await make();
    if (isGone) return;
    if (answer === 'again') {
      context.again(exchange, log);
      return;
    }
    const { status, headers, body } = answer;
    log.status = status;
    sendOwnAnswer(exchange, context, status, headers, Buffer.from(body));
  } catch (error) {
    if (!isGone) refuse(exchange, context, log, error);
  }
}
