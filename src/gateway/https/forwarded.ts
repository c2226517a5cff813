import { unloadable } from '../../errors/shared.ts';
import { quote, UserError } from '../../errors/user-error.ts';
import { checkRequestPath } from '../../lib/request-path.ts';
import type { CheckedPath } from '../../lib/request-path.ts';
import { holdsUntil } from '../../modules/run-steps.ts';
import type { Forward } from '../../modules/step.ts';
import { invalidPath, routeNotMatched } from '../errors.ts';
import { mostHops, offline, tooFar } from '../forwarding/hops.ts';
import { chooseOne } from '../forwarding/internal-names.ts';
import { RequestVisit } from './request-visit.ts';
import type { Edge, InternalEdge } from './routing/host-table.ts';
import type { Route } from './routing/route-table.ts';

/** Whether the visit may go on with the step that it waited for: the same list is in force, and all steps before still hold. */
export function mayGoOn(visit: RequestVisit, edge: Edge | InternalEdge, route: Route): boolean {
  return (
    visit.edgeId === edge.id &&
    visit.ownerId === route.id &&
    visit.route.list === route.list &&
    holdsUntil(route.list.steps, visit, visit.at) > 0
  );
}

/** Why a request cannot be forwarded there; undefined: there is an endpoint. */
export function whyNotForwarded(visit: RequestVisit, { url }: Forward): UserError | undefined {
  if (visit.hops >= mostHops) return tooFar();
  return findTarget(visit, url) === undefined ? offline() : undefined;
}

/** The visit at the endpoint that this one is forwarded to. Throws if there is none, or it serves nothing. */
export function enter(visit: RequestVisit, { url }: Forward): RequestVisit {
  const edge = findTarget(visit, url);
  if (edge === undefined) throw offline();
  if (!edge.isLoaded) throw new UserError(unloadable, { host: visit.hostname, what: 'the internal endpoint' });
  const route = findRoute(edge, checkPath(visit.upstreamTarget), visit.hostname);
  const before = visit.next;
  const next =
    before !== undefined && mayGoOn(before, edge, route)
      ? before
      : new RequestVisit(visit, edge, route, visit.targetForUpstream, visit.source, visit.countedSource, before, visit);
  next.route = route;
  visit.next = next;
  return next;
}

/**
 * The visit that goes on where the endpoint that it was forwarded to is out of reach, and the step that had forwarded it wants
 * to know. Nothing may have been sent. Undefined: the request is answered with the error.
 */
export function comeBack({ from }: RequestVisit, { code, message }: UserError): RequestVisit | undefined {
  const forwarding = from?.forwarding;
  const onError = forwarding?.forward.onError;
  if (from === undefined || forwarding === undefined || onError === undefined) return undefined;
  onError(code, message);
  from.comeBack(forwarding);
  return from;
}

function findTarget({ accountId, context, next }: RequestVisit, url: string): InternalEdge | undefined {
  return chooseOne(context.hosts.internal.find(accountId, url), next?.edgeId);
}

/** Throws if two readers could read the path of a target differently. */
export function checkPath(target: string): CheckedPath {
  const checked = checkRequestPath(target);
  if (!checked.ok) throw new UserError(invalidPath, { reason: `it ${checked.reason}` });
  return checked;
}

export function findRoute(edge: Edge | InternalEdge, { path, matchPath }: CheckedPath, hostname: string): Route {
  const route = edge.routes.choose(matchPath);
  if (route === undefined) throw new UserError(routeNotMatched, { host: hostname, path: quote(path) });
  if (route === 'ambiguous')
    throw new UserError(invalidPath, { reason: 'with "//", ";" or "%25" it can be read as another path' });
  return route;
}
