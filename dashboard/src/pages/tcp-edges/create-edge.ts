import type { TcpEdge } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import type { NewEdge } from '../../parts/edges/create-edge.tsx';

export function createEdge(edge: NewEdge, backendId: string | undefined): Promise<TcpEdge> {
  const backend = backendId === undefined ? {} : { backend: { backend_id: backendId } };
  return client.call('TcpEdgesCreate', { body: { ...edge, ...backend } });
}
