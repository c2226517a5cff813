import { moduleSchemas } from 'virtual:module-schemas';

import type { HttpsEdgeRoute, OperationId, Reply, TcpEdge } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import type { SaveOptions } from '../../api/edit.ts';
import type { ObjectSchema, Settings } from './schema.ts';

/** A thing that has modules: a route of an HTTPS edge, or a TCP edge. */
export interface ModuleTarget {
  readonly id: string;
  /** In a sentence: "the route /v2". */
  readonly words: string;
  readonly document: HttpsEdgeRoute | TcpEdge;
  readonly reply: Reply<HttpsEdgeRoute | TcpEdge>;
  readonly reread: () => Promise<Reply<HttpsEdgeRoute | TcpEdge>>;
  /** Its modules in the order in which traffic meets them. */
  readonly schemas: readonly (readonly [name: string, schema: ObjectSchema])[];
  readonly set: (module: string, settings: Settings, options: SaveOptions) => Promise<unknown>;
  /** Where a module of it is read and removed. */
  readonly operationOf: (module: string, verb: 'Get' | 'Delete') => OperationId;
  readonly path: Readonly<Record<string, string>>;
  /** What an address is tried against. */
  readonly checkedBy: { readonly route_id: string } | { readonly edge_id: string };
}

/** Operations of modules are named alike: HttpsEdgeRouteRequestHeadersDelete. */
function operationNamed(prefix: string, module: string, verb: string): OperationId {
  const pascal = module.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  // Every module in the schema has these operations.
  return `${prefix}${pascal}${verb}` as OperationId;
}

export function routeTarget(reply: Reply<HttpsEdgeRoute>, reread: () => Promise<Reply<HttpsEdgeRoute>>): ModuleTarget {
  const { id, edge_id: edgeId, match } = reply.document;
  const path = { edge_id: edgeId, id };
  return {
    id,
    words: `the route ${match}`,
    document: reply.document,
    reply,
    reread,
    schemas: moduleSchemas.https_route,
    set: (module, settings, options) =>
      client.call('HttpsEdgeRoutesUpdate', { path, body: { [module]: settings }, ...options }),
    operationOf: (module, verb) => operationNamed('HttpsEdgeRoute', module, verb),
    path,
    checkedBy: { route_id: id },
  };
}

export function tcpEdgeTarget(reply: Reply<TcpEdge>, reread: () => Promise<Reply<TcpEdge>>): ModuleTarget {
  const { id } = reply.document;
  return {
    id,
    words: 'this edge',
    document: reply.document,
    reply,
    reread,
    schemas: moduleSchemas.tcp_edge,
    set: (module, settings, options) =>
      client.call('TcpEdgesUpdate', { path: { id }, body: { [module]: settings }, ...options }),
    operationOf: (module, verb) => operationNamed('TcpEdge', module, verb),
    path: { id },
    checkedBy: { edge_id: id },
  };
}

/** A module as the API shows it; null where it is not set. */
export type ModuleView = Readonly<Record<string, unknown>> & { readonly enabled: boolean };

export function viewOf(document: HttpsEdgeRoute | TcpEdge, module: string): ModuleView | null {
  // Modules are fields of the document by their names.
  return ((document as unknown as Record<string, unknown>)[module] ?? null) as ModuleView | null;
}
