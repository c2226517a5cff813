import { useMemo } from 'react';

import { useList } from '../../api/queries.ts';
import { nameOf } from '../../lib/text.ts';

/** Endpoints, HTTPS edges and their routes, which can be inspected, by id. */
export function useSubjects() {
  const { data: edges } = useList('HttpsEdgesList');
  const { data: endpoints } = useList('EndpointsList');
  return useMemo(() => {
    const names = new Map<string, string>();
    for (const { id, type, proto, public_url: url } of endpoints ?? [])
      if (type !== 'edge' && (proto === 'http' || proto === 'https')) names.set(id, url);
    for (const edge of edges ?? []) {
      const name = edge.description === undefined ? (edge.hostports?.[0] ?? nameOf(edge)) : nameOf(edge);
      names.set(edge.id, name);
      for (const route of edge.routes) names.set(route.id, `${name} ${route.match}`);
    }
    return { options: [...names], nameOf: (id: string): string => names.get(id) ?? id };
  }, [edges, endpoints]);
}
