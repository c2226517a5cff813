import { useMemo } from 'react';

import { useList } from '../api/queries.ts';
import { nameOf, restrictionName } from '../lib/text.ts';

/** Names of what a verdict refers to by id. */
export interface Names {
  readonly policy: (id: string) => string;
  readonly restriction: (id: string) => { readonly name: string; readonly isEnforced: boolean | undefined };
}

export function useNames(): Names {
  const { data: policies } = useList('IpPoliciesList');
  const { data: restrictions } = useList('IpRestrictionsList');
  return useMemo(() => {
    const policyById = new Map(policies?.map((policy) => [policy.id, policy]));
    const restrictionById = new Map(restrictions?.map((restriction) => [restriction.id, restriction]));
    return {
      policy: (id) => nameOf(policyById.get(id) ?? { id }),
      restriction: (id) => {
        const found = restrictionById.get(id);
        return { name: found === undefined ? nameOf({ id }) : restrictionName(found), isEnforced: found?.enforced };
      },
    };
  }, [policies, restrictions]);
}
