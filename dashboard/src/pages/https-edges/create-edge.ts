import type { HttpsEdge } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import type { NewEdge } from '../../parts/edges/create-edge.tsx';

/** Makes an edge, and where a backend was chosen the route that sends every path to it. */
export async function createEdge(body: NewEdge, backendId: string | undefined): Promise<HttpsEdge> {
  const edge = await client.call('HttpsEdgesCreate', { body });
  if (backendId !== undefined) {
    const route = { match: '/', match_type: 'path_prefix', backend: { backend_id: backendId } } as const;
    // The edge is there either way; its page shows that it has no route.
    await client.call('HttpsEdgeRoutesCreate', { path: { edge_id: edge.id }, body: route }).catch(() => undefined);
  }
  return edge;
}
