import { client } from '../../api/client.ts';
import type { PageProps } from '../../components/page.tsx';
import { connectionEdges } from '../../parts/connection-edges.tsx';
import { chosenBackend, createWords } from '../../parts/edges.tsx';
import { edgeTarget } from '../../parts/modules/target.ts';
import type { TlsEdge } from '../../../../client/src/index.ts';
import type { Resource } from '../../resource/describe.ts';
import { ResourcePages } from '../../resource/lists.tsx';
import { canBeReverted } from '../../resource/uses.tsx';

const about =
  'A TLS edge takes connections by the name in their TLS handshake, whatever is spoken inside, and passes them on or ends TLS first.';

const edges: Resource<'TlsEdgesList'> = {
  ...connectionEdges<TlsEdge>(
    'tls',
    {
      noHostport: 'It has no name yet: give it a hostport.',
      lost: `Its names are free from now on, and open connections end. Its modules go with it. ${canBeReverted}`,
    },
    ({ reply, reread }) => edgeTarget('TlsEdge', reply, reread),
  ),
  list: 'TlsEdgesList',
  icon: 'shield',
  whenEmpty: ['No TLS edges', about],
  create: {
    ...createWords('tls'),
    send: async (body, values, set) => {
      const id = await chosenBackend(values, set);
      return client.call('TlsEdgesCreate', {
        body: { ...body, ...(id === undefined ? {} : { backend: { backend_id: id } }) },
      });
    },
  },
};

export function Page({ id }: PageProps) {
  return <ResourcePages resource={edges} id={id} title="TLS edges" lead={about} />;
}
