import { withText } from '../../../api/body/text-fields.ts';
import type { TextFields } from '../../../api/body/text-fields.ts';
import { quote, UserError } from '../../../errors/user-error.ts';
import type { Transaction } from '../../../store/write/transaction.ts';
import { endsUpstream } from '../../../modules/index.ts';
import type { ResourceContext } from '../../resource.ts';
import { edgeWrites } from '../edge-writes.ts';
import type { EdgeWrites } from '../edge-writes.ts';
import { duplicateMatch, httpsEndsUpstream } from '../errors.ts';
import { acceptHostnames, claimedHostnames } from '../hostnames.ts';
import { keepSecrets, syncReferences } from '../module-fields.ts';
import type { StoredModules } from '../module-fields.ts';
import { moveHostnames } from '../move-hostnames.ts';
import { acceptMatch, toMatchPath } from './match.ts';
import { findRouteId, routesOf } from './route-queries.ts';
import { hostnames, httpsEdgeRoutes, httpsEdges } from './table.ts';
import type { HttpsEdge, HttpsEdgeRoute, MatchType } from './table.ts';

export const target = 'https_route';
export const edgeTarget = 'https_edge';

export interface RouteChange extends TextFields {
  readonly match_type: MatchType;
  readonly match: string;
  /** All of them. */
  readonly modules: StoredModules;
}

export function httpsEdgeWrites(context: ResourceContext): EdgeWrites {
  const { settings } = context;
  const routes = routeWrites(context);
  const edges = edgeWrites({
    table: httpsEdges,
    target: edgeTarget,
    context,
    accept: (hostports) => acceptHostnames(hostports, settings.httpsPort),
    claimed: claimedHostnames,
    move: (transaction, edge, before, now) => moveHostnames(transaction, context, hostnames, edge, before, now),
    checkModules,
  });
  return {
    ...edges,
    async remove(transaction, edge) {
      for (const route of await routesOf(transaction, edge)) await routes.remove(transaction, route);
      await edges.remove(transaction, edge);
    },
  };
}

/** Requests are read here, so that TLS ends here. */
export function checkModules(modules: StoredModules): void {
  if (endsUpstream(modules['tls_termination'])) throw new UserError(httpsEndsUpstream);
}

export function routeWrites(context: Pick<ResourceContext, 'referables' | 'sealer' | 'services'>) {
  const { sealer } = context;
  return {
    async create(
      transaction: Transaction,
      { account_id, id }: HttpsEdge,
      change: RouteChange,
      newId?: string,
    ): Promise<HttpsEdgeRoute> {
      const { match_type, match } = change;
      const modules = keepSecrets(target, change.modules, {}, sealer);
      const first = {
        ...httpsEdgeRoutes.newDocument(account_id, newId),
        edge_id: id,
        match_type,
        match: acceptMatch(match),
        modules,
      };
      await checkFree(transaction, first);
      const route = await httpsEdgeRoutes.insert(transaction, withText(first, change));
      await syncReferences(transaction, context, target, route);
      return route;
    },
    async update(transaction: Transaction, previous: HttpsEdgeRoute, change: RouteChange): Promise<HttpsEdgeRoute> {
      const { match_type, match } = change;
      const modules = keepSecrets(target, change.modules, previous.modules, sealer);
      const changed = { ...previous, match_type, match: acceptMatch(match), modules };
      await checkFree(transaction, changed);
      const route = await httpsEdgeRoutes.update(transaction, previous, withText(changed, change));
      if (route !== previous) await syncReferences(transaction, context, target, route, previous.modules);
      return route;
    },
    async remove(transaction: Transaction, route: HttpsEdgeRoute): Promise<void> {
      await syncReferences(transaction, context, target, { ...route, modules: {} }, route.modules);
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
