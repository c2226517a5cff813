import { headersTooLarge, refusedByModule, refusedByRestriction } from '../../../errors/shared.ts';
import { quote, UserError } from '../../../errors/user-error.ts';
import { formatIp } from '../../../lib/ip/address.ts';
import type { IpAddress } from '../../../lib/ip/address.ts';
import { clientAddress } from '../../../lib/ip/client-address.ts';
import { checkRequestPath } from '../../../lib/request-path.ts';
import {
  expectationFailed,
  hostDiffersFromSni,
  hostNotFound,
  invalidPath,
  noBackend,
  routeNotMatched,
} from '../../errors.ts';
import { headerOf } from '../answer-error.ts';
import type { AnswerLog } from '../answer-log.ts';
import type { Exchange } from '../client/exchange.ts';
import type { Gate } from '../gate.ts';
import { buildRequestHead } from '../headers/request-head.ts';
import type { Passage } from '../open-tunnels.ts';
import type { UpstreamPool } from '../upstream/pool.ts';
import { hasBytes } from '../upstream/request-body-pump.ts';
import type { Edge } from './host-table.ts';
import { notAcceptable, readTarget } from './request-target.ts';
import type { RequestTarget } from './request-target.ts';
import type { Route } from './route-table.ts';

export interface Journey {
  readonly exchange: Exchange;
  readonly route: Route;
  readonly passage: Passage;
  readonly pool: UpstreamPool;
  /** The request head as it goes upstream. */
  readonly head: string;
  readonly expectsContinue: boolean;
}

/** Protocols that carry requests of their own, which would pass by the rules of this gateway. */
const httpLike = /(?:^|[,\s])(?:h2c?|h3|https?|tls)(?:$|[,\s/])/i;

/**
 * As many as a request over HTTP/2 may have. Some upstreams read the first thousand or two and drop the rest unseen: those
 * that the gateway adds, which come last, must be among them.
 */
const headerLimit = 500;

/** Characters of a path that an error message repeats. */
const shownPath = 100;

/** Everything that must hold before an upstream is asked. Throws `UserError` with the answer if something does not. */
export function decide(exchange: Exchange, gate: Gate, log: AnswerLog): Journey {
  if (exchange.headers.length > headerLimit * 2) throw new UserError(headersTooLarge);
  const wanted = readTarget(exchange);
  log.host = wanted.authority.name;
  log.path = withoutQuery(wanted.target);
  const edge = findEdge(exchange, wanted, gate);
  log.edgeId = edge.id;
  const source = sourceOf(exchange, gate);
  log.source = source;
  const warnedBy = admitToAccount(edge, source, gate);
  const route = findRoute(edge, wanted);
  log.routeId = route.id;
  const { pipeline } = route;
  if (!pipeline.admits(source, gate.access)) throw new UserError(refusedByModule, { address: formatIp(source) });
  if (warnedBy.length > 0) gate.observer.warned(warnedBy, source);
  checkUpgrade(exchange);
  const expectsContinue = checkExpectation(exchange);
  const pool = pipeline.backendId === undefined ? undefined : gate.backends.pool(pipeline.backendId);
  if (pool === undefined)
    throw new UserError(noBackend, { host: wanted.authority.name, path: log.path.slice(0, shownPath) });
  const trailers = /(?:^|[,\s])trailers(?:$|[,\s;])/i.test(headerOf(exchange.headers, 'te') ?? '');
  const head = buildRequestHead(exchange, wanted, route, { expectsContinue, trailers });
  const passage = { host: wanted.authority.name, edgeId: edge.id, routeId: route.id, source };
  return { exchange, route, passage, pool, head, expectsContinue };
}

function findEdge({ client, host }: Exchange, { authority }: RequestTarget, { hosts }: Gate): Edge {
  if (authority.name !== client.servername) {
    throw new UserError(hostDiffersFromSni, { sni: client.servername, host: authority.name });
  }
  const edge = hosts.find(authority.name);
  const { port } = authority;
  const portFits = port === undefined || port === client.localPort || edge?.ports.includes(port) === true;
  if (edge === undefined || !portFits) throw new UserError(hostNotFound, { host: quote(host) });
  return edge;
}

function sourceOf({ client, headers }: Exchange, { trustedProxies }: Gate): IpAddress {
  if (!client.peerTrusted) return client.peer;
  const lines = headers.filter((_, at) => at % 2 === 1 && headers[at - 1]?.toLowerCase() === 'x-forwarded-for');
  return clientAddress(client.peer, lines, trustedProxies);
}

/** Returns the restrictions that would refuse the source if they were enforced. */
function admitToAccount(edge: Edge, source: IpAddress, { access }: Gate): readonly string[] {
  const { refusedBy, warnedBy } = access.admit(edge.accountId, 'endpoints', source);
  if (refusedBy !== undefined) throw new UserError(refusedByRestriction, { address: formatIp(source) });
  return warnedBy;
}

function findRoute(edge: Edge, { authority, target }: RequestTarget): Route {
  const checked = checkRequestPath(target);
  if (!checked.ok) throw new UserError(invalidPath, { reason: `it ${checked.reason}` });
  const route = edge.routes.choose(checked.matchPath);
  if (route === undefined) throw new UserError(routeNotMatched, { host: authority.name, path: quote(checked.path) });
  if (route === 'ambiguous')
    throw new UserError(invalidPath, { reason: 'with "//" or ";" it can be read as that of another route' });
  return route;
}

/** It may hold secrets, which do not belong into a log. */
function withoutQuery(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}

function checkUpgrade({ upgrade, body }: Exchange): void {
  if (upgrade === undefined) return;
  if (httpLike.test(upgrade)) throw notAcceptable(`an upgrade to ${quote(upgrade)} is not offered here`);
  if (body !== 'none') throw notAcceptable('an upgrade with a body is not offered here');
}

function checkExpectation({ headers, protocol, body }: Exchange): boolean {
  const expectation = headerOf(headers, 'expect');
  if (expectation === undefined || protocol === '1.0') return false;
  if (expectation.toLowerCase() !== '100-continue')
    throw new UserError(expectationFailed, { expectation: quote(expectation) });
  return hasBytes(body);
}
