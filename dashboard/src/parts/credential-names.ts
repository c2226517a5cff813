import { useMemo } from 'react';

import { useList } from '../api/queries.ts';
import { nameOf } from '../lib/text.ts';

/** Names credentials by their descriptions. */
export function useCredentialName(): (id: string) => string {
  const { data } = useList('CredentialsList');
  return useMemo(() => {
    const names = new Map(data?.map((credential) => [credential.id, nameOf(credential)]));
    return (id) => names.get(id) ?? nameOf({ id });
  }, [data]);
}
