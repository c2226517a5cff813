import { useMemo } from 'react';

import { useList } from '../../api/queries.ts';
import { nameOf } from '../../lib/text.ts';
import { edgeName } from '../../parts/backends.ts';

/** Names of things of which a change may hold the id alone. */
export function useKnownNames(): ReadonlyMap<string, string> {
  const { data: policies } = useList('IpPoliciesList');
  const { data: https } = useList('HttpsEdgesList');
  return useMemo(
    () =>
      new Map([
        ...(policies ?? []).map((policy) => [policy.id, nameOf(policy)] as const),
        ...(https ?? []).map((edge) => [edge.id, edgeName(edge)] as const),
      ]),
    [policies, https],
  );
}
