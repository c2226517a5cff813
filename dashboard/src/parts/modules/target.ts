import { moduleSchemas } from 'virtual:module-schemas';

import type { HttpsEdge, HttpsEdgeRoute, OperationId, Reply, TcpEdge, TlsEdge } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import type { SaveOptions } from '../../api/edit.ts';
import { callOf } from '../rehearsal/rehearse.ts';
import type { TriedCall } from '../rehearsal/rehearse.ts';
import type { ObjectSchema, Settings } from './schema.ts';

/** A thing that has modules: a route of an HTTPS edge, or an edge. */
type Owner = HttpsEdgeRoute | HttpsEdge | TcpEdge | TlsEdge;

export interface ModuleTarget {
  readonly id: string;
  /** In a sentence: "the route /v2". */
  readonly words: string;
  readonly document: Owner;
  readonly reply: Reply<Owner>;
  readonly reread: () => Promise<Reply<Owner>>;
  /** Before the name of a module in the URL. */
  readonly urlPrefix?: string;
  /** True: it may pass TLS on unread. */
  readonly passesTls?: true;
  /** True: it carries connections, and reads no requests. */
  readonly countsConnections?: true;
  /** Modules in the order in which traffic meets them. */
  readonly schemas: readonly (readonly [name: string, schema: ObjectSchema])[];
  /** The call by which a module is set, to be tried. */
  readonly callToSet: (module: string, settings: Settings) => TriedCall;
  readonly set: (module: string, settings: Settings, options: SaveOptions) => Promise<unknown>;
  /** Where a module of it is read and removed. */
  readonly operationOf: (module: string, verb: 'Get' | 'Delete') => OperationId;
  readonly path: Readonly<Record<string, string>>;
  /** Edge or route that an address is tried against. */
  readonly checkedBy: { readonly route_id: string } | { readonly edge_id: string };
}

/** Modules that a response meets, behind the backend. */
const ofResponses: ReadonlySet<string> = new Set(['response_headers', 'compression']);

/** The backend comes when the request is ready for it: the list that modules are made from has it among the checks. */
function inTrafficOrder(schemas: ModuleTarget['schemas']): ModuleTarget['schemas'] {
  const place = (name: string): number => (ofResponses.has(name) ? 2 : name === 'backend' ? 1 : 0);
  return schemas.toSorted(([one], [other]) => place(one) - place(other));
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
    schemas: inTrafficOrder(moduleSchemas.https_route),
    callToSet: (module, settings) => callOf('HttpsEdgeRoutesUpdate', { path, body: { [module]: settings } }),
    set: (module, settings, options) =>
      client.call('HttpsEdgeRoutesUpdate', { path, body: { [module]: settings }, ...options }),
    operationOf: (module, verb) => operationNamed('HttpsEdgeRoute', module, verb),
    path,
    checkedBy: { route_id: id },
  };
}

const ofEdges = {
  TcpEdge: { schemas: inTrafficOrder(moduleSchemas.tcp_edge), countsConnections: true },
  TlsEdge: { schemas: inTrafficOrder(moduleSchemas.tls_edge), countsConnections: true, passesTls: true },
  // An edge whose routes have modules too; its own are about TLS.
  HttpsEdge: { schemas: moduleSchemas.https_edge, urlPrefix: 'edge.' },
} as const;

export function edgeTarget(
  kind: keyof typeof ofEdges,
  reply: Reply<HttpsEdge | TcpEdge | TlsEdge>,
  reread: () => Promise<Reply<HttpsEdge | TcpEdge | TlsEdge>>,
): ModuleTarget {
  const { id } = reply.document;
  return {
    id,
    words: 'this edge',
    document: reply.document,
    reply,
    reread,
    ...ofEdges[kind],
    callToSet: (module, settings) => callOf(`${kind}sUpdate`, { path: { id }, body: { [module]: settings } }),
    set: (module, settings, options) =>
      client.call(`${kind}sUpdate`, { path: { id }, body: { [module]: settings }, ...options }),
    operationOf: (module, verb) => operationNamed(kind, module, verb),
    path: { id },
    checkedBy: { edge_id: id },
  };
}

/** A module as the API shows it; null where it is not set. */
export type ModuleView = Readonly<Record<string, unknown>> & { readonly enabled: boolean };

export function viewOf(document: Owner, module: string): ModuleView | null {
  // Modules are fields of the document by their names.
  return ((document as unknown as Record<string, unknown>)[module] ?? null) as ModuleView | null;
}
