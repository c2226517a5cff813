import type { TcpEdge } from '../../../../client/src/index.ts';
import { Verdict } from '../../components/verdict.tsx';

export function isServing(edge: TcpEdge): boolean {
  return missingFor(edge) === undefined;
}

/** The next thing that it needs. */
export function missingFor({ hostports, backend }: TcpEdge): 'hostport' | 'backend' | undefined {
  if ((hostports ?? []).length === 0) return 'hostport';
  return backend?.enabled === true ? undefined : 'backend';
}

export function EdgeState({ edge }: { readonly edge: TcpEdge }) {
  const missing = missingFor(edge);
  if (missing === undefined) return <Verdict tone="allow">Ready</Verdict>;
  return <Verdict tone="off">{missing === 'hostport' ? 'No hostport' : 'No backend'}</Verdict>;
}
