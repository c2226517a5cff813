import type { UserError } from '../../errors/user-error.ts';
import type { AnswerLog } from './answer-log.ts';
import type { Exchange } from './client/exchange.ts';
import { errorAnswer } from './error-page.ts';
import type { Gate } from './gate.ts';

/** A body up to this many bytes is read to its end rather than closing the connection over it. */
const drainedBytes = 262_144;

/** Answers with an error of our own, in place of the upstream. Never throws. */
export function answerError(exchange: Exchange, error: UserError, gate: Gate, log: AnswerLog): void {
  try {
    sendError(exchange, error, gate, log);
  } catch {
    // The client went away while it was being answered.
    exchange.abort();
  }
}

function sendError(exchange: Exchange, error: UserError, gate: Gate, log: AnswerLog): void {
  const answer = errorAnswer(error, log.operationId, headerOf(exchange.headers, 'accept') ?? '', gate.errorPrefix);
  log.status = answer.status;
  log.errorCode = error.code;
  exchange.sendHead({
    status: answer.status,
    reason: '',
    headers: [...answer.headers, ...Object.entries(error.headers).flat()],
    contentLength: answer.body.length,
    close: gate.draining || !leavesConnectionUsable(exchange),
  });
  exchange.end(exchange.method === 'HEAD' ? undefined : answer.body, []);
}

export function headerOf(headers: readonly string[], lowerName: string): string | undefined {
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at] ?? '';
    if (name.length === lowerName.length && name.toLowerCase() === lowerName) return headers[at + 1];
  }
  return undefined;
}

function leavesConnectionUsable({ body, headers }: Exchange): boolean {
  if (body === 'none') return true;
  // A client that waits for "100 Continue" may or may not send its body after another answer.
  return typeof body === 'object' && body.length <= drainedBytes && headerOf(headers, 'expect') === undefined;
}
