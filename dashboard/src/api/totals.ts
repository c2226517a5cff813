import type { ListId } from '../../../client/src/index.ts';
import { formatNumber } from '../lib/text.ts';
import { useList, useOne } from './queries.ts';

/** Lists whose page shows all that a quota counts, and that quota: it knows the number, however long the list is. */
const quotaOf: Readonly<Partial<Record<ListId, string>>> = {
  IpRestrictionsList: 'ip_restrictions',
  IpPoliciesList: 'ip_policies',
  ApiKeysList: 'api_keys',
  BotUsersList: 'bot_users',
  StaticBackendsList: 'backends',
  TlsCertificatesList: 'tls_certificates',
  VaultsList: 'vaults',
};

/** How many there are of the things of a page; undefined until it is known. */
export function useTotal(list: ListId, { enabled = true } = {}): string | undefined {
  const quota = quotaOf[list];
  const { data: quotas } = useOne('QuotasList', {}, { enabled: enabled && quota !== undefined });
  const { data: rows, hasMore } = useList(list, { wanted: 1, enabled: enabled && quota === undefined });
  if (quota !== undefined) {
    const used = quotas?.document.quotas.find(({ name }) => name === quota)?.used;
    return used === undefined ? undefined : formatNumber(used);
  }
  return rows === undefined ? undefined : `${formatNumber(rows.length)}${hasMore ? '+' : ''}`;
}
