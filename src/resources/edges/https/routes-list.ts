import type { TSchema } from 'typebox';

import type { Call } from '../../../api/call.ts';
import { commonFields, textIn } from '../../../api/filter/fields.ts';
import type { FilterFields } from '../../../api/filter/fields.ts';
import { cutPage, filteredList } from '../../../api/filter/filtered-list.ts';
import type { Shown } from '../../../api/filter/filtered-list.ts';
import { readFilter } from '../../../api/filter/read-filter.ts';
import { operation } from '../../../api/operation.ts';
import type { Operation } from '../../../api/operation.ts';
import { filterName } from '../../../api/http/query.ts';
import { pageSchema, presentPage } from '../../../api/list-page.ts';
import { quote, UserError } from '../../../errors/user-error.ts';
import type { ResourceContext } from '../../resource.ts';
import { edgeNotFound } from '../errors.ts';
import { pageOfRoutes } from './route-queries.ts';
import { httpsEdgeRoutes, httpsEdges } from './table.ts';
import type { HttpsEdge, HttpsEdgeRoute } from './table.ts';

const filterFields: FilterFields = {
  ...commonFields,
  match: textIn('match'),
  match_type: textIn('match_type'),
  'backend.backend.id': textIn('modules', 'backend', 'backend_id'),
};

/** The routes of one edge in pages; the edge itself shows all of them. */
export function routesListOperation(
  { store }: ResourceContext,
  view: TSchema,
  present: (route: HttpsEdgeRoute, call: Call) => object,
): Operation {
  return operation({
    rights: 'everyone',
    method: 'GET',
    path: '/edges/https/{edge_id}/routes',
    operationId: 'HttpsEdgeRoutesList',
    summary: 'List HTTPS edge routes',
    description: 'The routes of one edge, newest first. The next page is reached through `next_page_uri`.',
    tag: 'HTTPS edge routes',
    listedPrefix: httpsEdgeRoutes.prefix,
    filterFields,
    mayBeLarge: true,
    status: 200,
    response: pageSchema('HttpsEdgeRoutes', 'routes', view),
    errors: [edgeNotFound],
    handle: async (call) => {
      const { caller, params } = call;
      const { edge_id = '' } = params;
      const edge = await store.find(httpsEdges, caller.accountId, edge_id);
      if (edge === undefined) throw new UserError(edgeNotFound, { noun: 'HTTPS edge', id: quote(edge_id) });
      const { documents, nextBefore } = await readRoutes(edge, call);
      const routes = documents.map((route) => present(route, call));
      return presentPage(call, `/edges/https/${edge.id}/routes`, 'routes', routes, nextBefore);
    },
  });

  async function readRoutes(edge: HttpsEdge, call: Call): Promise<Shown<HttpsEdgeRoute>> {
    const { page, filters } = call;
    const condition = readFilter(filters[filterName], filterFields);
    if (condition !== undefined) return filteredList(store, httpsEdgeRoutes, call, condition, { edge_id: edge.id });
    // One more than asked for shows whether there is a next page.
    return cutPage(await pageOfRoutes(store.queries, edge, { ...page, limit: page.limit + 1 }), page.limit);
  }
}
