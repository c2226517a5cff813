import { quote, UserError } from '../../errors/user-error.ts';
import { listTokens } from '../../lib/http-syntax.ts';
import { expectationFailed, upgradeNotServed } from '../errors.ts';
import type { Exchange } from './exchange.ts';
import { hiddenByConnection } from './headers/forward-headers.ts';
import type { RequestVisit } from './request-visit.ts';
import { notAcceptable } from './routing/request-target.ts';
import { hasBytes } from './upstream/request-body-pump.ts';
import { checkWebsocket } from './websocket-handshake.ts';

/** Steps of the gateway's own, which stand between those of modules. */

/** Protocols that carry requests of their own, which would bypass the rules of this gateway, in all their drafts. */
const httpLike = /^(?:h[0-9q]|s?http|spdy|ssl|tls)/i;
/** A name, with or without a version (RFC 9110, 7.8). */
const protocolForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)?$/;

/** Refuses requests whose upstream would not see one of these headers. */
export function refuseHidden(names: ReadonlySet<string> | 'all') {
  return ({ headers }: RequestVisit): UserError | undefined => {
    const hidden = hiddenByConnection(headers, names);
    return hidden === undefined
      ? undefined
      : notAcceptable(`its Connection header hides ${quote(hidden)} from the upstream`);
  };
}

/** Counts restrictions that would have refused a request which everything else lets in. */
export function warn({ warnedBy, log, context, source }: RequestVisit): undefined {
  if (warnedBy.length === 0) return;
  log.warnedBy = warnedBy;
  context.observer.warned(warnedBy, source);
}

/** Checks what a request asks of HTTP itself. Throws if that is not served. */
export function checkProtocol(visit: RequestVisit): undefined {
  const { exchange, route } = visit;
  if (exchange.upgrade !== undefined) checkUpgrade(exchange.upgrade, exchange);
  if (route.list.convertsWebsocket) checkWebsocket(exchange);
  visit.expectsContinue = expectsContinue(exchange, visit.sorted.expect);
  visit.log.backendId = route.backendId;
}

function checkUpgrade(upgrade: string, { body }: Exchange): void {
  const refuse = (reason: string): UserError => new UserError(upgradeNotServed, { protocol: quote(upgrade), reason });
  const protocols = listTokens(upgrade);
  if (protocols.length === 0 || !protocols.every((protocol) => protocolForm.test(protocol)))
    throw refuse('it is not a list of protocols');
  if (protocols.some((protocol) => httpLike.test(protocol))) throw refuse('its requests could not be checked');
  if (body !== 'none') throw notAcceptable('an upgrade with a body is not offered here');
}

function expectsContinue({ protocol, body, heldBody }: Exchange, expectation: string | undefined): boolean {
  if (expectation === undefined || protocol === '1.0') return false;
  if (expectation.toLowerCase() !== '100-continue')
    throw new UserError(expectationFailed, { expectation: quote(expectation) });
  return heldBody === undefined && hasBytes(body);
}
