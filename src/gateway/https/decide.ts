import { headersTooLarge, refusedByModule, refusedByRestriction } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { listTokens } from '../../lib/http-syntax.ts';
import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { clientAddress } from '../../lib/ip/client-address.ts';
import { checkRequestPath } from '../../lib/request-path.ts';
import { proxiesKey, sourceKey } from '../../lib/ip/source-key.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';
import {
  expectationFailed,
  hostDiffersFromSni,
  hostNotFound,
  invalidPath,
  noBackend,
  routeNotMatched,
  unloadable,
  upgradeNotServed,
} from '../errors.ts';
import { isUnloadable } from '../is-unloadable.ts';
import { checkShownCertificate } from '../tls/shown-certificate.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import type { Exchange } from './exchange.ts';
import { findHeader } from './headers/header-list.ts';
import type { AdmittedBy } from './open-tunnels.ts';
import type { RequestContext } from './request-context.ts';
import type { Edge } from './routing/host-table.ts';
import { notAcceptable, readTarget } from './routing/request-target.ts';
import type { RequestTarget } from './routing/request-target.ts';
import type { Route } from './routing/route-table.ts';
import type { UpstreamPool } from './upstream/pool.ts';
import { checkWebsocket } from './websocket-handshake.ts';
import { hasBytes } from './upstream/request-body-pump.ts';
import { buildRequestHead } from './upstream/request-head.ts';

/** A request that may pass, and where it goes. */
export interface RoutedRequest {
  readonly exchange: Exchange;
  readonly accountId: string;
  readonly route: Route;
  readonly admittedBy: AdmittedBy;
  /** The source that its connection to the backend counts for. */
  readonly countedSource: SourceKey;
  readonly pool: UpstreamPool;
  /** The request head as it goes upstream. */
  readonly head: string;
  readonly expectsContinue: boolean;
}

/** Protocols that carry requests of their own, which would bypass the rules of this gateway, in all their drafts. */
const httpLike = /^(?:h[0-9q]|s?http|spdy|ssl|tls)/i;
/** A name, with or without a version (RFC 9110, 7.8). */
const protocolForm = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+(?:\/[!#$%&'*+.^_`|~0-9A-Za-z-]+)?$/;

/**
 * Most headers that a request may have; the limit for HTTP/2 is the same. Some upstreams read the first thousand or two and
 * silently drop the rest: the headers that the gateway adds come last and must be among those that are read.
 */
const headerLimit = 500;

/** Most characters of a path that an error message repeats. */
const shownPath = 100;

/** Makes every check that must pass before an upstream is asked. Throws the `UserError` to answer with if one fails. */
export function decide(exchange: Exchange, context: RequestContext, log: AccessLogEntry): RoutedRequest {
  if (exchange.headers.length > headerLimit * 2) throw new UserError(headersTooLarge);
  const wanted = readTarget(exchange);
  log.host = wanted.authority.name;
  log.path = withoutQuery(wanted.target);
  const edge = findEdge(exchange, wanted, context);
  log.edgeId = edge.id;
  log.accountId = edge.accountId;
  const source = sourceOf(exchange, context);
  log.source = source;
  const warnedBy = admitToAccount(edge, source, context, wanted, log);
  if (!edge.isLoaded) throw new UserError(unloadable, { host: wanted.authority.name, what: 'the edge' });
  const route = findRoute(edge, wanted);
  log.routeId = route.id;
  const { pipeline } = route;
  if (!pipeline.admits(source, context.access)) {
    throw isUnloadable(pipeline, source, context.access)
      ? rulesUnloadable(wanted)
      : new UserError(refusedByModule, { address: formatIp(source) });
  }
  const countedSource = countedSourceOf(exchange, source, context);
  const refusal =
    checkShownCertificate(pipeline.clientCa, exchange.client.certificate) ??
    (pipeline.asksPassword
      ? context.passwords.check(edge.id, countedSource, exchange.headers, pipeline.refuses)
      : pipeline.refuses?.(exchange.headers));
  if (refusal !== undefined) throw refusal;
  if (warnedBy.length > 0) {
    log.warnedBy = warnedBy;
    context.observer.warned(warnedBy, source);
  }
  checkUpgrade(exchange);
  if (pipeline.convertsWebsocket) checkWebsocket(exchange);
  const expectsContinue = checkExpectation(exchange);
  log.backendId = pipeline.backendId;
  const pool = pipeline.backendId === undefined ? undefined : context.backends.pool(pipeline.backendId, edge.accountId);
  if (pool === undefined)
    throw new UserError(noBackend, { host: wanted.authority.name, path: log.path.slice(0, shownPath) });
  const broken = pipeline.breaker?.refusal();
  if (broken !== undefined) throw broken;
  const trailers = /(?:^|[,\s])trailers(?:$|[,\s;])/i.test(findHeader(exchange.headers, 'te') ?? '');
  const head = buildRequestHead(exchange, wanted, route, { expectsContinue, trailers });
  const admittedBy = {
    host: wanted.authority.name,
    edgeId: edge.id,
    routeId: route.id,
    source,
    headers: exchange.headers,
    certificate: exchange.client.certificate,
  };
  return { exchange, accountId: edge.accountId, route, admittedBy, countedSource, pool, head, expectsContinue };
}

function findEdge({ client, host }: Exchange, { authority }: RequestTarget, { hosts }: RequestContext): Edge {
  if (authority.name !== client.servername) {
    throw new UserError(hostDiffersFromSni, { sni: client.servername, host: authority.name });
  }
  const edge = hosts.find(authority.name);
  const { port } = authority;
  const portFits = port === undefined || port === client.localPort || edge?.ports.includes(port) === true;
  if (edge === undefined || !portFits) throw new UserError(hostNotFound, { host: quote(host) });
  return edge;
}

function sourceOf({ client, headers }: Exchange, { trustedProxies }: RequestContext): IpAddress {
  if (!client.peerTrusted) return client.peer;
  const lines = headers.filter((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'x-forwarded-for');
  return clientAddress(client.peer, lines, trustedProxies);
}

function countedSourceOf({ client }: Exchange, source: IpAddress, { trustedProxies }: RequestContext): SourceKey {
  // A trusted proxy that names no client may forward for many.
  return client.peerTrusted && trustedProxies.lookup(source) !== 0 ? proxiesKey : sourceKey(source);
}

/** Throws if a restriction refuses the source. Returns those that would refuse it if they were enforced. */
function admitToAccount(
  edge: Edge,
  source: IpAddress,
  { access }: RequestContext,
  wanted: RequestTarget,
  log: AccessLogEntry,
): readonly string[] {
  const { refusedBy, warnedBy } = access.admit(edge.accountId, 'endpoints', source);
  if (refusedBy === undefined) return warnedBy;
  log.refusedBy = refusedBy;
  throw access.isLoaded(refusedBy)
    ? new UserError(refusedByRestriction, { address: formatIp(source) })
    : rulesUnloadable(wanted);
}

function rulesUnloadable({ authority }: RequestTarget): UserError {
  return new UserError(unloadable, { host: authority.name, what: 'an IP rule' });
}

function findRoute(edge: Edge, { authority, target }: RequestTarget): Route {
  const checked = checkRequestPath(target);
  if (!checked.ok) throw new UserError(invalidPath, { reason: `it ${checked.reason}` });
  const route = edge.routes.choose(checked.matchPath);
  if (route === undefined) throw new UserError(routeNotMatched, { host: authority.name, path: quote(checked.path) });
  if (route === 'ambiguous')
    throw new UserError(invalidPath, { reason: 'with "//", ";" or "%25" it can be read as another path' });
  return route;
}

/** The query may hold secrets, which must not be logged. */
function withoutQuery(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}

function checkUpgrade({ upgrade, body }: Exchange): void {
  if (upgrade === undefined) return;
  const refuse = (reason: string): UserError => new UserError(upgradeNotServed, { protocol: quote(upgrade), reason });
  const protocols = listTokens(upgrade);
  if (protocols.length === 0 || !protocols.every((protocol) => protocolForm.test(protocol)))
    throw refuse('it is not a list of protocols');
  if (protocols.some((protocol) => httpLike.test(protocol))) throw refuse('its requests could not be checked');
  if (body !== 'none') throw notAcceptable('an upgrade with a body is not offered here');
}

function checkExpectation({ headers, protocol, body }: Exchange): boolean {
  const expectation = findHeader(headers, 'expect');
  if (expectation === undefined || protocol === '1.0') return false;
  if (expectation.toLowerCase() !== '100-continue')
    throw new UserError(expectationFailed, { expectation: quote(expectation) });
  return hasBytes(body);
}
