import { client } from '../../api/client.ts';
import type { PageProps } from '../../components/page.tsx';
import { connectionEdges } from '../../parts/connection-edges.tsx';
import { chosenBackend, createWords } from '../../parts/edges.tsx';
import { edgeTarget } from '../../parts/modules/target.ts';
import type { TcpEdge } from '../../../../client/src/index.ts';
import type { Resource } from '../../resource/describe.ts';
import { ResourcePages } from '../../resource/lists.tsx';
import { canBeReverted } from '../../resource/uses.tsx';

const about = 'A TCP edge opens a port and sends the connections that it lets in to a backend.';

const edges: Resource<'TcpEdgesList'> = {
  ...connectionEdges<TcpEdge>(
    'tcp',
    {
      noHostport: 'No port is open for it yet: give it a hostport.',
      lost: `Its ports are closed from now on, and open connections end. Its modules go with it. ${canBeReverted}`,
    },
    ({ reply, reread }) => edgeTarget('TcpEdge', reply, reread),
  ),
  list: 'TcpEdgesList',
  icon: 'plug',
  whenEmpty: ['No TCP edges', about],
  create: {
    ...createWords('tcp'),
    send: async (body, values, set) => {
      const id = await chosenBackend(values, set);
      return client.call('TcpEdgesCreate', {
        body: { ...body, ...(id === undefined ? {} : { backend: { backend_id: id } }) },
      });
    },
  },
};

export function Page({ id }: PageProps) {
  return <ResourcePages resource={edges} id={id} title="TCP edges" lead={about} />;
}
