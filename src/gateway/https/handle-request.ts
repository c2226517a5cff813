import { internalError } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import type { OwnAnswer } from '../../modules/step.ts';
import { AccessLogEntry } from './access-log-entry.ts';
import { decide } from './decide.ts';
import type { Decision } from './decide.ts';
import { sendErrorResponse } from './error-response.ts';
import type { Exchange } from './exchange.ts';
import { holdBody } from './hold-body.ts';
import { sendOwnAnswer } from './own-answer.ts';
import { Relay } from './relay.ts';
import type { RequestContext } from './request-context.ts';
import type { RequestVisit } from './request-visit.ts';

/** Most times that one request waits: a token, a session, a token for the upstream and a body need one each. */
const mostWaits = 8;

/** Decides on one request and carries it out, or answers with an error. */
export function handleRequest(exchange: Exchange, context: RequestContext): void {
  carryOut(exchange, context, new AccessLogEntry(exchange), undefined);
}

/** Decides on a request again that has waited, of which nothing was sent. */
function goOn(visit: RequestVisit): void {
  carryOut(visit.exchange, visit.context, visit.log, visit);
}

function carryOut(
  exchange: Exchange,
  context: RequestContext,
  log: AccessLogEntry,
  before: RequestVisit | undefined,
): void {
  exchange.onClose = () => {
    log.report(context.observer);
  };
  try {
    const decision = decide(exchange, context, log, before);
    switch (decision.kind) {
      case 'relay':
        new Relay(decision, goOn).start();
        break;
      case 'answer':
        answer(decision.answer, exchange, context, log);
        break;
      case 'close':
        log.refuse(decision.refusal);
        exchange.abort();
        break;
      case 'hold':
        hold(decision);
        break;
      case 'wait':
        void wait(decision, exchange, context, log);
        break;
    }
  } catch (error) {
    refuse(exchange, context, log, error);
  }
}

function answer(
  { status, headers, body, login, refusal, person, module }: OwnAnswer,
  exchange: Exchange,
  context: RequestContext,
  log: AccessLogEntry,
): void {
  log.status = status;
  log.login = login;
  log.person = person ?? log.person;
  log.module = module ?? log.module;
  log.refuse(refusal);
  sendOwnAnswer(exchange, context, status, headers, Buffer.from(body));
}

/** Goes on when the body is there. */
function hold({ maxBytes, visit }: Extract<Decision, { readonly kind: 'hold' }>): void {
  const { exchange, context, log, accountId } = visit;
  holdBody({
    exchange,
    accountId,
    maxBytes,
    bodies: context.heldBodies,
    log,
    done: (body) => {
      exchange.heldBody = body;
      goOn(visit);
    },
    fail: (error) => {
      refuse(exchange, context, log, error);
    },
  });
}

function refuse(exchange: Exchange, context: RequestContext, log: AccessLogEntry, error: unknown): void {
  if (error instanceof UserError) {
    sendErrorResponse(exchange, error, context, log);
  } else {
    context.log.error({ err: error, operation_id: log.operationId }, 'request failed');
    sendErrorResponse(exchange, new UserError(internalError), context, log);
  }
}

/** Goes on, or answers, when what had to be asked is known. Nothing of the request has been read but its head. */
async function wait(
  { start, isBounded, visit }: Extract<Decision, { readonly kind: 'wait' }>,
  exchange: Exchange,
  context: RequestContext,
  log: AccessLogEntry,
): Promise<void> {
  let isGone = false;
  exchange.onClose = () => {
    isGone = true;
    log.report(context.observer);
  };
  try {
    const own = await start();
    if (isGone) return;
    if (own !== undefined) {
      answer(own, exchange, context, log);
      return;
    }
    if (visit === undefined || (isBounded !== true && ++visit.waits > mostWaits))
      throw new Error(`nothing was decided in ${mostWaits} rounds`);
    goOn(visit);
  } catch (error) {
    if (!isGone) refuse(exchange, context, log, error);
  }
}
