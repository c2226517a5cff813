import { retryLater, UserError } from '../../errors/user-error.ts';
import { boundErrors } from '../bounds/bound.ts';
import { endpointOffline } from '../errors.ts';
import type { TunnelBackend } from '../tunnels/tunnel-backend.ts';
import { sendErrorResponse } from './error-response.ts';
import { comeBack } from './forwarded.ts';
import type { RequestVisit } from './request-visit.ts';

/**
 * Lets a request wait that found no way through an agent, if one is expected; false: it must be answered now. Nothing of its
 * body has been read, so that nothing is lost. When an agent may have come `goOn` is called: the agent may ask for guards
 * that it did not ask for before.
 */
export function waitForAgent(
  visit: RequestVisit,
  backend: TunnelBackend,
  goOn: (visit: RequestVisit) => void,
): boolean {
  const { exchange, accountId, context, log } = visit;
  const { tunnels, observer } = context;
  const fail = (error: UserError): void => {
    exchange.onClose = () => {
      log.report(observer);
    };
    sendErrorResponse(exchange, error, context, log);
  };
  const waiting = tunnels.wait(backend, {
    accountId,
    untilMs: log.startedAt + tunnels.waitMs,
    retry: () => {
      goOn(visit);
    },
    giveUp: () => {
      const error = new UserError(endpointOffline, retryLater);
      const back = comeBack(visit, error);
      if (back === undefined) {
        visit.answered(endpointOffline.status);
        fail(error);
      } else {
        visit.failed(endpointOffline.status);
        goOn(back);
      }
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
