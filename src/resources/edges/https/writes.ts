import { withText } from '../../../api/body/text-fields.ts';
import type { TextFields } from '../../../api/body/text-fields.ts';
import { quote, UserError } from '../../../errors/user-error.ts';
import type { Transaction } from '../../../store/write/group-commit.ts';
import type { ResourceContext } from '../../resource.ts';
import { duplicateMatch } from '../errors.ts';
import { syncReferences } from '../module-fields.ts';
import type { StoredModules } from '../module-fields.ts';
import { acceptHostnames, claimedHostnames } from './hostnames.ts';
import { acceptMatch, toMatchPath } from './match.ts';
import { moveHostnames } from './move-hostnames.ts';
import { findRouteId, routesOf } from './route-queries.ts';
import { httpsEdgeRoutes, httpsEdges } from './table.ts';
import type { HttpsEdge, HttpsEdgeRoute, MatchType } from './table.ts';

export const target = 'https_route';

interface EdgeChange extends TextFields {
  /** Undefined keeps them, whatever the settings are by now. */
  readonly hostports: readonly string[] | undefined;
}

export interface RouteChange extends TextFields {
  readonly match_type: MatchType;
  readonly match: string;
  /** All of them. */
  readonly modules: StoredModules;
}

/** The writes of single calls and of configurations. */
export function httpsEdgeWrites(context: ResourceContext) {
  const { referables, settings } = context;
  const routes = routeWrites({ referables });
  return {
    async create(transaction: Transaction, accountId: string, change: EdgeChange, newId?: string): Promise<HttpsEdge> {
      const claims = acceptHostnames(change.hostports ?? [], settings.httpsPort);
      const hostports = claims.map(({ hostport }) => hostport);
      const first = { ...httpsEdges.newDocument(accountId, newId), hostports };
      const edge = await httpsEdges.insert(transaction, withText(first, change));
      await moveHostnames(transaction, context, edge, [], claims);
      return edge;
    },
    async update(transaction: Transaction, previous: HttpsEdge, change: EdgeChange): Promise<HttpsEdge> {
      const held = claimedHostnames(previous.hostports);
      const claims = change.hostports === undefined ? held : acceptHostnames(change.hostports, settings.httpsPort);
      const changed = { ...previous, hostports: claims.map(({ hostport }) => hostport) };
      const edge = await httpsEdges.update(transaction, previous, withText(changed, change));
      if (edge !== previous) await moveHostnames(transaction, context, edge, held, claims);
      return edge;
    },
    async remove(transaction: Transaction, edge: HttpsEdge): Promise<void> {
      for (const route of await routesOf(transaction, edge)) await routes.remove(transaction, route);
      await httpsEdges.delete(transaction, edge);
    },
    /** Gives host names back to others, whatever the settings are by now. */
    async keepOnly(transaction: Transaction, previous: HttpsEdge, hostports: readonly string[]): Promise<HttpsEdge> {
      const edge = await httpsEdges.update(transaction, previous, { ...previous, hostports });
      const [held, kept] = [claimedHostnames(previous.hostports), claimedHostnames(hostports)];
      if (edge !== previous) await moveHostnames(transaction, context, edge, held, kept);
      return edge;
    },
  };
}

export function routeWrites({ referables }: Pick<ResourceContext, 'referables'>) {
  return {
    async create(
      transaction: Transaction,
      { account_id, id }: HttpsEdge,
      change: RouteChange,
      newId?: string,
    ): Promise<HttpsEdgeRoute> {
      const { match_type, match, modules } = change;
      const first = {
        ...httpsEdgeRoutes.newDocument(account_id, newId),
        edge_id: id,
        match_type,
        match: acceptMatch(match),
        modules,
      };
      await checkFree(transaction, first);
      const route = await httpsEdgeRoutes.insert(transaction, withText(first, change));
      await syncReferences(transaction, referables, target, route);
      return route;
    },
    async update(transaction: Transaction, previous: HttpsEdgeRoute, change: RouteChange): Promise<HttpsEdgeRoute> {
      const { match_type, match, modules } = change;
      const changed = { ...previous, match_type, match: acceptMatch(match), modules };
      await checkFree(transaction, changed);
      const route = await httpsEdgeRoutes.update(transaction, previous, withText(changed, change));
      if (route !== previous) await syncReferences(transaction, referables, target, route, previous.modules);
      return route;
    },
    async remove(transaction: Transaction, route: HttpsEdgeRoute): Promise<void> {
      await syncReferences(transaction, referables, target, { ...route, modules: {} }, route.modules);
      await httpsEdgeRoutes.delete(transaction, route);
    },
  };
}

async function checkFree(
  transaction: Transaction,
  { id, edge_id, match: wanted }: Pick<HttpsEdgeRoute, 'id' | 'edge_id' | 'match'>,
): Promise<void> {
  const holder = await findRouteId(transaction, edge_id, toMatchPath(wanted));
  if (holder !== undefined && holder !== id) {
    throw new UserError(duplicateMatch, { edge: edge_id, match: quote(wanted), route: holder });
  }
}
