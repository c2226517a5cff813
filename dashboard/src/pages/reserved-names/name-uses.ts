import { useMemo } from 'react';

import { useList } from '../../api/queries.ts';
import { edgeName } from '../../parts/backends.ts';
import { hostOf } from '../../parts/certificates.tsx';

export interface NameUse {
  readonly id: string;
  readonly to: string;
  readonly text: string;
}

/** Uses of a domain or an address: edges, and endpoints of agents and of the cloud. */
export function useNameUses(): (name: string) => readonly NameUse[] {
  const { data: https } = useList('HttpsEdgesList');
  const { data: tcp } = useList('TcpEdgesList');
  const { data: tls } = useList('TlsEdgesList');
  const { data: endpoints } = useList('EndpointsList');
  return useMemo(() => {
    const uses: (NameUse & { readonly hostport: string })[] = [];
    for (const [edges, path] of [
      [https, 'https-edges'],
      [tcp, 'tcp-edges'],
      [tls, 'tls-edges'],
    ] as const) {
      for (const edge of edges ?? []) {
        const use = { id: edge.id, to: `/${path}/${edge.id}`, text: edgeName(edge) };
        for (const hostport of edge.hostports ?? []) uses.push({ ...use, hostport });
      }
    }
    for (const endpoint of endpoints ?? []) {
      // Endpoints of edges are among the edges above.
      if (endpoint.type === 'edge') continue;
      const { id, hostport, public_url: url, type } = endpoint;
      const text = type === 'cloud' ? `endpoint ${url}` : `agent at ${hostport}`;
      uses.push({ id, to: `/endpoints/${id}`, text, hostport });
    }
    return (name) => uses.filter(({ hostport }) => hostport === name || hostOf(hostport) === name.toLowerCase());
  }, [https, tcp, tls, endpoints]);
}
