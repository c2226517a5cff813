import { internalError } from '../../errors/shared.ts';
import { UserError } from '../../errors/user-error.ts';
import { answerError } from './answer-error.ts';
import { AnswerLog } from './answer-log.ts';
import type { Exchange } from './client/exchange.ts';
import type { Gate } from './gate.ts';
import { Relay } from './relay.ts';
import { decide } from './routing/decide.ts';

/** Decides on one request and carries it out, or answers why not. */
export function handleRequest(exchange: Exchange, gate: Gate): void {
  const log = new AnswerLog(exchange);
  exchange.onClose = () => {
    log.tell(gate.observer);
  };
  try {
    new Relay(decide(exchange, gate, log), gate, log).start();
  } catch (error) {
    refuse(exchange, gate, log, error);
  }
}

function refuse(exchange: Exchange, gate: Gate, log: AnswerLog, error: unknown): void {
  if (error instanceof UserError) {
    answerError(exchange, error, gate, log);
  } else {
    gate.log.error({ err: error, operationId: log.operationId }, 'request failed');
    answerError(exchange, new UserError(internalError), gate, log);
  }
}
