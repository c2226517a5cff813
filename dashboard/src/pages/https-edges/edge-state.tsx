import type { HttpsEdge } from '../../../../client/src/index.ts';
import { Verdict } from '../../components/verdict.tsx';

/** It has a name, and a route that leads somewhere. */
export function isServing(edge: HttpsEdge): boolean {
  return missingFor(edge) === undefined;
}

/** The next thing that it needs. */
export function missingFor({ hostports, routes }: HttpsEdge): 'hostport' | 'route' | 'backend' | undefined {
  if ((hostports ?? []).length === 0) return 'hostport';
  if (routes.length === 0) return 'route';
  return routes.some(({ backend }) => backend?.enabled === true) ? undefined : 'backend';
}

const words = { hostport: 'No hostport', route: 'No route', backend: 'No backend' } as const;

export function EdgeState({ edge }: { readonly edge: HttpsEdge }) {
  const missing = missingFor(edge);
  return missing === undefined ? <Verdict tone="allow">Ready</Verdict> : <Verdict tone="off">{words[missing]}</Verdict>;
}
