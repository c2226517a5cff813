import { UserError } from '../../errors/user-error.ts';
import { boundErrors } from '../bounds/bound.ts';
import { endpointOffline } from '../errors.ts';
import type { TunnelBackend } from '../tunnels/tunnel-backend.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import type { RoutedRequest } from './decide.ts';
import { sendErrorResponse } from './error-response.ts';
import type { RequestContext } from './request-context.ts';

/** Headers of an answer to a request that found no agent; in seconds. */
const retryLater = { 'Retry-After': '1' };

/**
 * Lets a request wait that found no way through an agent, if one is expected; false: it must be answered now. Nothing of its
 * body has been read, so that nothing is lost. When an agent may have come it is decided on again from the start, because
 * the agent may ask for guards that it did not ask for before.
 */
export function waitForAgent(
  { exchange, accountId, route }: RoutedRequest,
  backend: TunnelBackend,
  context: RequestContext,
  log: AccessLogEntry,
): boolean {
  const { agents, observer } = context;
  const fail = (error: UserError): void => {
    exchange.onClose = () => {
      log.report(observer);
    };
    sendErrorResponse(exchange, error, context, log);
  };
  const waiting = agents.wait(backend, {
    accountId,
    untilMs: log.startedAt + agents.waitMs,
    again: () => {
      context.again(exchange, log);
    },
    over: () => {
      route.pipeline.breaker?.answered(endpointOffline.status);
      fail(new UserError(endpointOffline, retryLater));
    },
  });
  if (waiting === 'late') return false;
  if (waiting === 'full') {
    fail(new UserError(boundErrors.agent_waiting, retryLater));
    return true;
  }
  exchange.onClose = () => {
    waiting.leave();
    log.report(observer);
  };
  return true;
}
