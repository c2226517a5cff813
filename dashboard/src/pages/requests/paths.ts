const pages = { edghts: 'https-edges', edgtcp: 'tcp-edges', edgtls: 'tls-edges' } as const;

/** The page of an edge or endpoint. */
export function pathOfEdge(id: string): string {
  const [kind = ''] = id.split('_');
  return `/${Object.entries(pages).find(([prefix]) => prefix === kind)?.[1] ?? 'endpoints'}/${id}`;
}
