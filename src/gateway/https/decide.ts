import { headersTooLarge, refusedByRestriction, unloadable } from '../../errors/shared.ts';
import { quote, retryLater, UserError } from '../../errors/user-error.ts';
import { findHeader, headerValues } from '../../lib/header-list.ts';
import { formatIp } from '../../lib/ip/address.ts';
import type { IpAddress } from '../../lib/ip/address.ts';
import { clientAddress } from '../../lib/ip/client-address.ts';
import { proxiesKey, sourceKey } from '../../lib/ip/source-key.ts';
import type { SourceKey } from '../../lib/ip/source-key.ts';
import type { CheckedPath } from '../../lib/request-path.ts';
import { isOwnPath } from '../../modules/own-paths.ts';
import { runSteps } from '../../modules/run-steps.ts';
import type { Close, Forward, Outcome, OwnAnswer, Wait } from '../../modules/step.ts';
import { allAddressesDown, hostDiffersFromSni, hostNotFound, noBackend } from '../errors.ts';
import type { ChoiceFacts } from '../health/backend-addresses.ts';
import { offline } from '../forwarding/hops.ts';
import { chooseOne } from '../forwarding/internal-names.ts';
import type { AccessLogEntry } from './access-log-entry.ts';
import { AnswerRun } from './answer-run.ts';
import type { Exchange } from './exchange.ts';
import { checkPath, comeBack, enter, findRoute, mayGoOn, whyNotForwarded } from './forwarded.ts';
import type { OwnOrigin } from './own-exchange.ts';
import type { RequestContext } from './request-context.ts';
import { RequestVisit } from './request-visit.ts';
import type { Edge, InternalEdge } from './routing/host-table.ts';
import { readTarget } from './routing/request-target.ts';
import type { RequestTarget } from './routing/request-target.ts';
import type { AddressAttempt } from './upstream/address-attempt.ts';
import { buildRequestHead } from './upstream/request-head.ts';
import type { UpstreamPool } from './upstream/pool.ts';

/** A request that may pass, and where it goes. */
export interface RoutedRequest {
  readonly kind: 'relay';
  readonly visit: RequestVisit;
  readonly pool: UpstreamPool;
  /** Undefined where the backend has one address that nobody watches. */
  readonly attempt: AddressAttempt | undefined;
  /** Backends of its group to try where this one cannot be reached. Undefined: it is of no group. */
  readonly others: readonly string[] | undefined;
  /** The request head as it goes upstream. */
  readonly head: string;
}

/** Next step for a request that is not refused. */
export type Decision =
  | RoutedRequest
  | { readonly kind: 'answer'; readonly answer: OwnAnswer }
  | Close
  /** The request is decided on once its body is whole. */
  | { readonly kind: 'hold'; readonly maxBytes: number; readonly visit: RequestVisit }
  /** The request is decided on, or answered, once something has been asked. `visit` is undefined where an answer comes in any case. */
  | {
      readonly kind: 'wait';
      readonly start: () => Promise<OwnAnswer | undefined>;
      readonly isBounded?: true;
      readonly visit: RequestVisit | undefined;
    };

/**
 * Most headers that a request may have; the limit for HTTP/2 is the same. Some upstreams read the first thousand or two and
 * silently drop the rest: the headers that the gateway adds come last and must be among those that are read.
 */
const headerLimit = 500;

const none: readonly never[] = [];

/** Where the world finds plain HTTP. */
const plainPort = 80;

/** Most characters of a path that an error message repeats. */
const shownPath = 100;

/**
 * Finds the rules for a request and runs their steps. Throws the `UserError` to answer with if it is refused. `before` is the same
 * request, which has waited: it goes on with the step that it waited for if that is still in force and all before it still
 * let it pass, and is begun anew if not.
 */
export function decide(
  exchange: Exchange,
  context: RequestContext,
  log: AccessLogEntry,
  before: RequestVisit | undefined,
): Decision {
  if (exchange.headers.length > headerLimit * 2) throw new UserError(headersTooLarge);
  const { own } = exchange;
  const wanted = readTarget(exchange);
  const { authority, target } = wanted;
  log.host = authority.name;
  log.path = withoutQuery(target);
  const first = before?.first;
  const edge =
    own === undefined
      ? findEdge(exchange, wanted, context, first?.edgeId)
      : findInternal(own, context, log, first?.edgeId);
  log.edgeId = edge.id;
  log.accountId = edge.accountId;
  log.version = context.access.version;
  const source = own?.source ?? sourceOf(exchange, context);
  log.source = source;
  // Rules ask endpoints of their own account, which has let the visitor in.
  const warnedBy = own === undefined ? admitToAccount(edge, source, context, wanted, log) : none;
  const what = own === undefined ? 'the edge' : 'the internal endpoint';
  if (!edge.isLoaded) throw new UserError(unloadable, { host: authority.name, what });
  const checked = checkPath(target);
  if (asksForOwnPath(edge, checked)) {
    // An internal endpoint is its own only route.
    if (own !== undefined) log.routeId = edge.id;
    const { method, headers } = exchange;
    return answerOwnPath(edge, { method, headers, host: authority.host, target, source, context, log });
  }
  const route = findRoute(edge, checked, authority.name);
  log.routeId = route.id;
  const counted = own?.counted ?? countedSourceOf(exchange, source, context);
  const visit =
    first !== undefined && mayGoOn(first, edge, route)
      ? first
      : new RequestVisit({ exchange, context, log }, edge, route, wanted, source, counted, first);
  visit.route = route;
  visit.warnedBy = warnedBy;
  return goThrough(visit);
}

/** Runs the steps of a visit, and those of the internal endpoints that it is forwarded to. */
function goThrough(first: RequestVisit): Decision {
  let visit = first;
  for (;;) {
    const outcome = runList(visit);
    if (outcome !== undefined) return toDecision(outcome, visit);
    try {
      if (visit.forwarding === undefined) return forward(visit);
      visit = enter(visit, visit.forwarding.forward);
      if (asksForOwnPath(visit.edge, checkPath(visit.target))) return answerOwnPath(visit.edge, visit);
    } catch (error) {
      const back = error instanceof UserError ? comeBack(visit, error) : undefined;
      if (back === undefined) throw error;
      visit = back;
    }
  }
}

/** Runs the steps that are left, also those behind one that forwards the visit. */
function runList(visit: RequestVisit): Exclude<Outcome, Forward> | undefined {
  const { log, route } = visit;
  const { steps, moduleOf } = route.list;
  log.module = undefined;
  for (;;) {
    const outcome = runSteps(steps, visit);
    if (outcome === undefined) return undefined;
    if (outcome instanceof UserError || outcome.kind !== 'forward') {
      log.module = moduleOf.get(steps[visit.at]!);
      return outcome;
    }
    const fault = whyNotForwarded(visit, outcome);
    if (fault === undefined) visit.forwardTo(outcome);
    else if (outcome.onError === undefined) throw fault;
    else outcome.onError(fault.code, fault.message);
  }
}

function toDecision(outcome: Exclude<Outcome, Forward>, visit: RequestVisit): Decision {
  if (outcome instanceof UserError) throw outcome;
  switch (outcome.kind) {
    case 'answer': {
      // For those that have forwarded it, it is the answer of an upstream.
      const changing = outcome.isChanged ? visit : visit.from;
      return changing === undefined ? outcome : finishAnswer(new AnswerRun(changing, outcome.answer, outcome.answer));
    }
    case 'close':
      return outcome;
    default:
      return { ...outcome, visit };
  }
}

/** An answer of our own, with what the steps for answers make of it. */
function finishAnswer(run: AnswerRun): Decision {
  const outcome = run.next();
  if (outcome instanceof UserError) throw outcome;
  if (outcome?.kind === 'close') return outcome;
  // The run was made with an answer of our own.
  if (outcome === undefined) return { kind: 'answer', answer: run.own! };
  const start = async (): Promise<OwnAnswer> => {
    for (let waiting: Wait = outcome; ;) {
      const other = await waiting.start();
      if (other !== undefined) run.replace(other);
      const next = run.next();
      if (next instanceof UserError) throw next;
      if (next?.kind === 'close') throw next.refusal;
      if (next === undefined) return run.own!;
      waiting = next;
    }
  };
  return { kind: 'wait', start, visit: undefined };
}

/** The way to its backend, for a request that every step has let pass. */
function forward(visit: RequestVisit): RoutedRequest {
  const { exchange, accountId, route, context, source, log, hostname } = visit;
  const head = buildRequestHead(visit);
  const found = findPool(route.backendId, accountId, context, exchange.headers, source);
  if (found === undefined) throw new UserError(noBackend, { host: hostname, path: log.path.slice(0, shownPath) });
  if (found.others !== undefined) log.backendId = found.pool.source.id;
  const { pool, attempt, others } = found;
  return { kind: 'relay', visit, pool, attempt, others, head };
}

/** Facts that a choice among the addresses of a backend may go by. */
export function choiceFacts(headers: readonly string[], source: IpAddress): ChoiceFacts {
  return { source: () => formatIp(source), header: (name) => findHeader(headers, name) };
}

/** Answers a request to the paths of logins. */
function answerOwnPath(
  { id, accountId, routes }: Edge,
  { method, headers, host, target, source, context, log }: OwnPathRequest,
): Decision {
  const own = { accountId, edgeId: id, method, headers, host, target, source, operationId: () => log.operationId };
  return { kind: 'wait', start: () => context.visitors.answer(own, routes), visit: undefined };
}

type OwnPathRequest = Pick<RequestVisit, 'method' | 'headers' | 'host' | 'target' | 'source' | 'context' | 'log'>;

/** True for the paths of logins at an endpoint where visitors sign in, also where an upstream could read the path as one of them. */
function asksForOwnPath({ routes }: Edge, { matchPath }: CheckedPath): boolean {
  return routes.signIns !== undefined && isOwnPath(matchPath);
}

function findPool(
  id: string | undefined,
  accountId: string,
  { backends }: RequestContext,
  headers: readonly string[],
  source: IpAddress,
): Pick<RoutedRequest, 'pool' | 'attempt' | 'others'> | undefined {
  if (id === undefined) return undefined;
  const pool = backends.pool(id, accountId);
  if (pool !== undefined) return { pool, attempt: undefined, others: undefined };
  const facts = choiceFacts(headers, source);
  const chosen = backends.choose(id, accountId, facts);
  if (chosen !== undefined) return { ...chosen, others: undefined };
  if (backends.hasAddresses(id)) throw new UserError(allAddressesDown, retryLater);
  const candidates = backends.groups.candidates(id);
  const first = candidates && backends.chooseFirst(candidates, accountId, facts);
  if (first === undefined && candidates?.some((each) => backends.hasAddresses(each)) === true)
    throw new UserError(allAddressesDown, retryLater);
  return first;
}

/** `formerId`: of the one that the same request came to before. */
function findEdge(
  { client, host, replay }: Exchange,
  { authority }: RequestTarget,
  { hosts }: RequestContext,
  formerId: string | undefined,
): Edge {
  const { servername } = client;
  if (servername !== undefined && authority.name !== servername) {
    throw new UserError(hostDiffersFromSni, { sni: servername, host: authority.name });
  }
  const serving = servername === undefined ? hosts.allPlain(authority.name) : hosts.all(authority.name);
  const edge = chooseOne(
    // The host may be that of another account by now.
    replay === undefined ? serving : serving.filter(({ id }) => id === replay.edgeId),
    formerId,
  );
  const { port } = authority;
  const isPublic = servername === undefined ? port === plainPort : edge?.ports.includes(port ?? 0) === true;
  const portFits = port === undefined || port === client.localPort || isPublic;
  if (edge === undefined || !portFits) throw new UserError(hostNotFound, { host: quote(host) });
  return edge;
}

/** The internal endpoint that a rule asks. */
function findInternal(
  { accountId, endpoint, source }: OwnOrigin,
  { hosts, access }: RequestContext,
  log: AccessLogEntry,
  formerId: string | undefined,
): InternalEdge {
  log.accountId = accountId;
  log.version = access.version;
  log.source = source;
  const edge = chooseOne(hosts.internal.find(accountId, endpoint), formerId);
  if (edge === undefined) throw offline();
  return edge;
}

function sourceOf({ client, headers }: Exchange, { trustedProxies }: RequestContext): IpAddress {
  if (!client.peerTrusted) return client.peer;
  return clientAddress(client.peer, headerValues(headers, 'x-forwarded-for'), trustedProxies);
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

/** The query may hold secrets, which must not be logged. */
function withoutQuery(target: string): string {
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}
