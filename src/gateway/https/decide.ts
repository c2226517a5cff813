import { createHash } from 'node:crypto';

import { headersTooLarge, rateLimited, refusedByModule, refusedByRestriction } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import type { BodyCheck, ModuleAnswer, RateLimit } from '../../modules/module.ts';
import { listTokens } from '../../lib/http-syntax.ts';
import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { clientAddress } from '../../lib/ip/client-address.ts';
import { checkRequestPath, otherReadings } from '../../lib/request-path.ts';
import type { Pipeline, Redirection } from '../../modules/module.ts';
import { proxiesKey, sourceKey } from '../../lib/ip/source-key.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';
import {
  allAddressesDown,
  connectionPredatesRules,
  expectationFailed,
  hostDiffersFromSni,
  hostNotFound,
  invalidPath,
  noBackend,
  routeNotMatched,
  unloadable,
  upgradeNotServed,
  upgradeNotVerified,
} from '../errors.ts';
import type { ChoiceFacts } from '../health/backend-addresses.ts';
import { OwnAnswer } from '../sign-in/own-answer.ts';
import { ownPrefix } from '../sign-in/visit.ts';
import type { Visit } from '../sign-in/visit.ts';
import type { Admitted } from '../sign-in/visitors.ts';
import { isUnloadable } from '../is-unloadable.ts';
import { checkShownCertificate } from '../tls/shown-certificate.ts';
import type { ShownCertificate } from '../tls/shown-certificate.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import { formatAuthority } from './authority.ts';
import type { Exchange } from './exchange.ts';
import { findHeader, findOnlyHeader } from './headers/header-list.ts';
import type { AdmittedBy } from './open-tunnels.ts';
import type { RequestContext } from './request-context.ts';
import type { Edge } from './routing/host-table.ts';
import { notAcceptable, readTarget } from './routing/request-target.ts';
import type { RequestTarget } from './routing/request-target.ts';
import type { Route } from './routing/route-table.ts';
import type { AddressAttempt } from './upstream/address-attempt.ts';
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
  /** Undefined where the backend has one address that nobody watches. */
  readonly attempt: AddressAttempt | undefined;
  /** Backends of its group to try where this one cannot be reached. Undefined: it is of no group. */
  readonly others: readonly string[] | undefined;
  /** Undefined where visitors of the route do not sign in. */
  readonly visitor: Admitted | undefined;
  /** The request head as it goes upstream. */
  readonly head: string;
  readonly expectsContinue: boolean;
}

/** A request that may pass, and is sent elsewhere. */
export interface Redirected {
  readonly status: number;
  readonly location: string;
  /** All of the answer. */
  readonly headers: readonly string[];
}

/** A request whose body a module must see before more is decided. */
export interface HeldRequest {
  readonly accountId: string;
  readonly holds: BodyCheck;
}

/** A request that a module answers. */
export interface AnsweredRequest {
  readonly answer: ModuleAnswer;
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

/** Longer values are counted by a digest, so that memory is bounded. */
const longestKey = 64;

/** Where the world finds plain HTTP. */
const plainPort = 80;

/** Most characters of a path that an error message repeats. */
const shownPath = 100;

/** Makes every check that must pass before an upstream is asked. Throws the `UserError` to answer with if one fails. */
export function decide(
  exchange: Exchange,
  context: RequestContext,
  log: AccessLogEntry,
): RoutedRequest | Redirected | HeldRequest | AnsweredRequest {
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
  const checked = checkRequestPath(wanted.target);
  if (!checked.ok) throw new UserError(invalidPath, { reason: `it ${checked.reason}` });
  const { signIns } = edge.routes;
  if (signIns !== undefined && isOwnPath(checked.matchPath)) {
    const visit = visitOf(exchange, edge, wanted, source, log);
    throw new OwnAnswer(() => context.visitors.answer(visit, edge.routes));
  }
  const route = findRoute(edge, wanted, checked);
  log.routeId = route.id;
  const { pipeline } = route;
  if (!pipeline.admits(source, context.access)) {
    throw isUnloadable(pipeline, source, context.access)
      ? rulesUnloadable(wanted)
      : new UserError(refusedByModule, { address: formatIp(source) });
  }
  const countedSource = countedSourceOf(exchange, source, context);
  if (pipeline.rateLimits !== undefined && !log.isCounted) {
    log.isCounted = true;
    countRequest(pipeline.rateLimits, exchange, edge, route, countedSource, context);
  }
  const refusal =
    (pipeline.needsTls13 && !exchange.client.isTls13 ? new UserError(connectionPredatesRules) : undefined) ??
    checkShownCertificate(pipeline.clientCa, exchange.client.certificate) ??
    (pipeline.asksPassword
      ? context.passwords.check(edge.id, countedSource, exchange.headers, pipeline.refuses)
      : pipeline.refuses?.(exchange.headers));
  if (refusal !== undefined) throw refusal;
  if (pipeline.tokenRule !== undefined) context.tokens.check(pipeline.tokenRule, exchange.headers);
  const visitor =
    pipeline.signIns.length === 0
      ? undefined
      : context.visitors.admit(
          visitOf(exchange, edge, wanted, source, log),
          route.id,
          pipeline.signIns,
          context.access,
        );
  if (pipeline.bodyCheck !== undefined) {
    const decided = checkBody(exchange, wanted, edge.accountId, pipeline.bodyCheck);
    if (decided !== undefined) return decided;
  }
  if (warnedBy.length > 0) {
    log.warnedBy = warnedBy;
    context.observer.warned(warnedBy, source);
  }
  if (pipeline.redirects !== undefined) return redirected(pipeline.redirects(wanted.target), pipeline);
  checkUpgrade(exchange);
  if (pipeline.convertsWebsocket) checkWebsocket(exchange);
  const expectsContinue = checkExpectation(exchange);
  log.backendId = pipeline.backendId;
  const broken = pipeline.breaker?.refusal();
  if (broken !== undefined) throw broken;
  const trailers = /(?:^|[,\s])trailers(?:$|[,\s;])/i.test(findHeader(exchange.headers, 'te') ?? '');
  const head = buildRequestHead(exchange, wanted, route, { expectsContinue, trailers, identity: visitor?.identity });
  const admittedBy = {
    host: wanted.authority.name,
    hostport: formatAuthority(wanted.authority),
    edgeId: edge.id,
    routeId: route.id,
    source,
    headers: exchange.headers,
    certificate: exchange.client.certificate,
    isTls13: exchange.client.isTls13,
  };
  const found = findPool(pipeline.backendId, edge, context, exchange.headers, source);
  if (found === undefined)
    throw new UserError(noBackend, { host: wanted.authority.name, path: log.path.slice(0, shownPath) });
  if (found.others !== undefined) log.backendId = found.pool.source.id;
  const { accountId } = edge;
  return { exchange, accountId, route, admittedBy, countedSource, ...found, visitor, head, expectsContinue };
}

/** What a choice among the addresses of a backend may go by. */
export function choiceFacts(headers: readonly string[], source: IpAddress): ChoiceFacts {
  return { source: () => formatIp(source), header: (name) => findHeader(headers, name) };
}

/** Also where an upstream could read the path as one of them. */
function isOwnPath(matchPath: string): boolean {
  return (
    matchPath.startsWith(ownPrefix) || otherReadings(matchPath)?.some((each) => each.startsWith(ownPrefix)) === true
  );
}

function visitOf(
  { method, headers }: Exchange,
  { id, accountId }: Edge,
  { authority, target }: RequestTarget,
  source: IpAddress,
  log: AccessLogEntry,
): Visit {
  const host = formatAuthority(authority);
  return { accountId, edgeId: id, method, headers, host, target, source, operationId: () => log.operationId };
}

function redirected({ status, location }: Redirection, { rewriteResponse }: Pipeline): Redirected {
  const headers = ['Location', location];
  return { status, location, headers: rewriteResponse?.(headers) ?? headers };
}

/** Throws for a request beyond one of the limits. */
function countRequest(
  limits: readonly RateLimit[],
  { headers, client }: Exchange,
  edge: Edge,
  route: Route,
  source: SourceKey,
  { rates }: RequestContext,
): void {
  for (const rule of limits) {
    const key = rateKey(rule, headers, client.certificate, source);
    const seconds = rates.take(edge.accountId, rule.scope === 'edge' ? edge.id : route.id, rule, key);
    if (typeof seconds !== 'number') continue;
    const values = { limit: rule.limit, window: rule.windowMs / 1000, seconds };
    throw new UserError(rateLimited, values, { 'Retry-After': String(seconds) });
  }
}

/** Who is counted. Without a certificate it is the source; without the header, or with several, all such are one. */
function rateKey(
  { by, header }: RateLimit,
  headers: readonly string[],
  certificate: ShownCertificate | undefined,
  source: SourceKey,
): string {
  if (by === 'header') {
    const value = findOnlyHeader(headers, header) ?? '';
    return `h ${value.length > longestKey ? createHash('sha256').update(value).digest('base64') : value}`;
  }
  const at = by === 'certificate' ? (certificate?.facts.indexOf('X-Client-Cert-Fingerprint') ?? -1) : -1;
  return at < 0 ? `s ${source}` : `c ${certificate?.facts[at + 1] ?? ''}`;
}

/** Undefined: the module lets the request pass. */
function checkBody(
  exchange: Exchange,
  wanted: RequestTarget,
  accountId: string,
  bodyCheck: BodyCheck,
): HeldRequest | AnsweredRequest | undefined {
  if (exchange.upgrade !== undefined) throw new UserError(upgradeNotVerified);
  const { method, headers, heldBody } = exchange;
  const head = { method, headers, urls: publicUrls(exchange, wanted) };
  const outcome = heldBody === undefined ? bodyCheck.refusesHead(head) : bodyCheck.check({ ...head, body: heldBody });
  if (outcome instanceof UserError) throw outcome;
  if (heldBody === undefined) return { accountId, holds: bodyCheck };
  return outcome === undefined ? undefined : { answer: outcome };
}

/** The URL as the visitor used it, which a trusted proxy may tell, with and without the port that goes without saying. */
function publicUrls({ client, headers, host }: Exchange, { target }: RequestTarget): readonly string[] {
  const told = (name: string): string | undefined =>
    client.peerTrusted ? findHeader(headers, name)?.split(',')[0]?.trim() : undefined;
  const scheme = told('x-forwarded-proto')?.toLowerCase() ?? (client.servername === undefined ? 'http' : 'https');
  const [name = '', port] = (told('x-forwarded-host') ?? host ?? '').split(':');
  const usual = scheme === 'https' ? '443' : '80';
  return [port, port === undefined ? usual : undefined].map(
    (each) => `${scheme}://${name}${each === undefined ? '' : `:${each}`}${target}`,
  );
}

function findPool(
  id: string | undefined,
  { accountId }: Edge,
  { backends }: RequestContext,
  headers: readonly string[],
  source: IpAddress,
): Pick<RoutedRequest, 'pool' | 'attempt' | 'others'> | undefined {
  if (id === undefined) return undefined;
  const pool = backends.pool(id, accountId);
  if (pool !== undefined) return { pool, attempt: undefined, others: undefined };
  const facts = choiceFacts(headers, source);
  const way = backends.way(id, accountId, facts);
  if (way !== undefined) return { ...way, others: undefined };
  if (backends.hasAddresses(id)) throw new UserError(allAddressesDown, { 'Retry-After': '1' });
  const candidates = backends.groups.candidates(id);
  const first = candidates && backends.firstWay(candidates, accountId, facts);
  if (first === undefined && candidates?.some((each) => backends.hasAddresses(each)) === true)
    throw new UserError(allAddressesDown, { 'Retry-After': '1' });
  return first;
}

function findEdge({ client, host }: Exchange, { authority }: RequestTarget, { hosts }: RequestContext): Edge {
  const { servername } = client;
  if (servername !== undefined && authority.name !== servername) {
    throw new UserError(hostDiffersFromSni, { sni: servername, host: authority.name });
  }
  const found = hosts.find(authority.name);
  const edge = servername !== undefined || found?.isPlain === true ? found : undefined;
  const { port } = authority;
  const isPublic = servername === undefined ? port === plainPort : edge?.ports.includes(port ?? 0) === true;
  const portFits = port === undefined || port === client.localPort || isPublic;
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

function findRoute(
  edge: Edge,
  { authority }: RequestTarget,
  checked: { readonly path: string; readonly matchPath: string },
): Route {
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

function checkExpectation({ headers, protocol, body, heldBody }: Exchange): boolean {
  const expectation = findHeader(headers, 'expect');
  if (expectation === undefined || protocol === '1.0') return false;
  if (expectation.toLowerCase() !== '100-continue')
    throw new UserError(expectationFailed, { expectation: quote(expectation) });
  return heldBody === undefined && hasBytes(body);
}
