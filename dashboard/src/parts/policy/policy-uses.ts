import { useMemo } from 'react';

import { useList } from '../../api/queries.ts';
import { edgeName } from '../backends.ts';

/** Something whose traffic policy names what is asked about. */
export interface PolicyUse {
  readonly id: string;
  readonly to: string;
  readonly text: string;
}

interface WithPolicy extends PolicyUse {
  readonly policy: string | undefined;
}

/** Endpoints, routes and edges whose policy passes the test. `isCut`: there are more of them than were read. */
export function usePolicyUses(isNamed: (policy: string) => boolean): {
  readonly uses: readonly PolicyUse[];
  readonly isCut: boolean;
} {
  const endpoints = useList('EndpointsList');
  const https = useList('HttpsEdgesList');
  const tcp = useList('TcpEdgesList');
  const tls = useList('TlsEdgesList');
  const all = useMemo(
    (): readonly WithPolicy[] => [
      ...(endpoints.data ?? []).map(({ id, public_url: url, traffic_policy: policy }) => ({
        id,
        to: `/endpoints/${id}`,
        text: url,
        policy,
      })),
      ...(https.data ?? []).flatMap((edge) =>
        edge.routes.map(({ id, match, traffic_policy: module }) => ({
          id,
          to: `/https-edges/${edge.id}?route=${id}`,
          text: `${edgeName(edge)} ${match}`,
          policy: module?.value,
        })),
      ),
      ...[...(tcp.data ?? []), ...(tls.data ?? [])].map((edge) => ({
        id: edge.id,
        to: `/${edge.id.startsWith('edgtls_') ? 'tls' : 'tcp'}-edges/${edge.id}`,
        text: edgeName(edge),
        policy: edge.traffic_policy?.value,
      })),
    ],
    [endpoints.data, https.data, tcp.data, tls.data],
  );
  return {
    uses: all.filter(({ policy }) => policy !== undefined && isNamed(policy)),
    isCut: [endpoints, https, tcp, tls].some(({ hasMore }) => hasMore),
  };
}
