import { createHash } from 'node:crypto';

import { Type } from 'typebox';

import { mapInTurns } from '../../../lib/map-in-turns.ts';
import { asRun, modulesFor } from '../../../modules/index.ts';
import { certificateTroubles } from '../../acme/service.ts';
import { configurationKinds } from '../../configuration-kind.ts';
import { hostnameHolders } from '../../hostname-holders.ts';
import type { Resource } from '../../resource.ts';
import { storedSecrets } from '../../stored-secrets.ts';
import { visitedEntries } from '../../visited-entries.ts';
import { EdgeKind, hostnameErrors } from '../edge-kind.ts';
import * as errors from '../errors.ts';
import { hostnameHolder, hostnameOf } from '../hostnames.ts';
import { httpsRouteModules } from '../service.ts';
import { httpsEdgeCompiler, visitedHttpsEdges } from './compile.ts';
import { HttpsEdgeEntry, httpsEdgeKind } from './configuration.ts';
import { pageOfRoutes, routesOf, routesOfPage } from './route-queries.ts';
import { routeSecrets } from './stored-secrets.ts';
import {
  HttpsEdgeRouteCreate,
  HttpsEdgeRouteUpdate,
  HttpsEdgeRouteView,
  presentRoute,
  routeErrors,
  routeOperations,
} from './routes.ts';
import { httpsEdgeRoutes, httpsEdges, migrations } from './table.ts';
import type { HttpsEdgeRoute } from './table.ts';
import { checkModules, edgeTarget, httpsEdgeWrites, target } from './writes.ts';

const kind = new EdgeKind({
  proto: 'https',
  table: httpsEdges,
  target: edgeTarget,
  modules: ['mutual_tls', 'tls_termination'],
  hostports: {
    form: 'hostname:port',
    description:
      'Where the edge is reached, as hostname:port. The port is the one that the gateway serves HTTPS on. A host name ' +
      'belongs to one edge of the installation; its first label may be "*", which stands for any one label.',
    example: 'app.example.com:443',
  },
  views: { routes: Type.Array(Type.Ref('HttpsEdgeRoute'), { description: 'The routes of the edge, oldest first.' }) },
  misplacedFields: Object.fromEntries(
    modulesFor('https_route').map(({ name }) => [name, 'It belongs to a route: POST /edges/https/{id}/routes.']),
  ),
  errors: [...hostnameErrors, errors.httpsEndsUpstream],
  together: { check: checkModules, errors: [errors.httpsEndsUpstream] },
});

/** A text that is another one for other routes; an edge may have very many. */
async function digestOf(routes: readonly HttpsEdgeRoute[]): Promise<string> {
  const digest = createHash('sha256');
  await mapInTurns(routes, (route) => digest.update(`${JSON.stringify(route)}\n`));
  return digest.digest('base64');
}

export const httpsEdgesResource: Resource = {
  errors: Object.values(errors),
  migrations,
  schemas: [...kind.schemas, HttpsEdgeRouteView, HttpsEdgeRouteCreate, HttpsEdgeRouteUpdate, HttpsEdgeEntry],
  operations(context) {
    const { referables, services } = context;
    const ofEdges = kind.operations(context, {
      writes: httpsEdgeWrites(context),
      warning: (queries, { account_id, hostports }) =>
        services.get(certificateTroubles).warningFor(queries, account_id, hostports.map(hostnameOf)),
      // An edge is shown with its routes, so a tag of it stands for them too.
      etagState: async (queries, edge) => ({ edge, routes: await digestOf(await routesOf(queries, edge)) }),
      mayBeLarge: true,
      async presentMore(queries, edges, call) {
        const byEdge = await routesOfPage(queries, edges);
        const shown: object[] = [];
        for (const { id } of edges) {
          const routes = await mapInTurns(byEdge.get(id) ?? [], (route) => presentRoute(route, referables, call));
          shown.push({ routes });
        }
        return shown;
      },
    });
    return [...ofEdges, ...routeOperations(context)];
  },
  compilers: (context) => [httpsEdgeCompiler(context)],
  provide(context) {
    const { store, services } = context;
    kind.provide(context);
    services.add(configurationKinds, httpsEdgeKind(context, [...kind.writeErrors, ...routeErrors]));
    services.add(hostnameHolders, hostnameHolder('https_edge_hostnames', 'https_edges'));
    services.add(storedSecrets, routeSecrets(context));
    services.add(visitedEntries, visitedHttpsEdges(context));
    services.provide(httpsRouteModules, {
      prefix: httpsEdgeRoutes.prefix,
      // Modules of its edge hold for a route too.
      async find(accountId, id, edgeId) {
        const route = await store.find(httpsEdgeRoutes, accountId, id);
        if (route === undefined || (edgeId !== undefined && edgeId !== route.edge_id)) return undefined;
        return {
          ...(await store.find(httpsEdges, accountId, route.edge_id))?.modules,
          ...asRun(route.modules, target),
        };
      },
      async ofEdge(accountId, edgeId, most) {
        const edge = await store.find(httpsEdges, accountId, edgeId);
        if (edge === undefined) return undefined;
        const routes = await pageOfRoutes(store.queries, edge, { beforeId: undefined, limit: most });
        return routes.map(({ id, match_type, match, modules }) => ({
          id,
          match_type,
          match,
          modules: { ...edge.modules, ...asRun(modules, target) },
        }));
      },
    });
  },
};
