import { useMemo } from 'react';

import { useList } from '../api/queries.ts';
import { nameOf } from '../lib/text.ts';

export interface EdgeNames {
  readonly options: readonly (readonly [id: string, name: string])[];
  /** The name of an edge, or what it was reached as where it has none. */
  readonly nameOf: (id: string, fallback: string) => string;
  readonly routeMatch: (id: string) => string | undefined;
  /** Routes of an edge, or of all where none is given. */
  readonly routesOf: (edgeId: string | null) => readonly (readonly [id: string, match: string])[];
}

export function useEdges(): EdgeNames {
  const { data: https } = useList('HttpsEdgesList');
  const { data: tcp } = useList('TcpEdgesList');
  const { data: tls } = useList('TlsEdgesList');
  return useMemo(() => {
    const names = new Map<string, string>();
    const routes = new Map<string, string>();
    for (const edge of [...(https ?? []), ...(tcp ?? []), ...(tls ?? [])]) {
      names.set(edge.id, edge.description === undefined ? (edge.hostports?.[0] ?? nameOf(edge)) : nameOf(edge));
    }
    for (const { id, match } of (https ?? []).flatMap((edge) => edge.routes)) routes.set(id, match);
    return {
      options: [...names],
      nameOf: (id, fallback) => names.get(id) ?? fallback,
      routeMatch: (id) => routes.get(id),
      routesOf: (edgeId) =>
        (https ?? [])
          .filter(({ id }) => edgeId === null || id === edgeId)
          .flatMap(({ id, routes: own }) =>
            own.map((route) => [route.id, edgeId === null ? `${names.get(id)}${route.match}` : route.match] as const),
          ),
    };
  }, [https, tcp, tls]);
}
