import { useList } from '../api/queries.ts';
import { shortId } from '../lib/text.ts';

/** Certificate authorities of visitors, and their names. */
export function useAuthorities(): { readonly ids: readonly string[]; readonly nameOf: (id: string) => string } {
  const { data: all = [] } = useList('CertificateAuthoritiesList');
  const names = new Map(all.map((each) => [each.id, each.description || each.subject_common_name || shortId(each.id)]));
  return { ids: [...names.keys()], nameOf: (id) => names.get(id) ?? shortId(id) };
}
