import type { Call } from '../../api/call.ts';
import type { ApiKey } from './table.ts';

/** The view of a key. A field that is unset is left out. */
export function presentKey(key: ApiKey, lastUsedAt: string | undefined, { uri }: Call): object {
  const { id, previous_token_expires_at: overlapEnd } = key;
  return {
    id,
    uri: uri(`/api_keys/${id}`),
    description: key.description,
    metadata: key.metadata,
    created_at: key.created_at,
    token: null,
    owner_id: key.owner_id,
    expires_at: key.expires_at,
    ip_policy_ids: key.ip_policy_ids,
    read_only: key.read_only,
    last_used_at: lastUsedAt,
    rotated_at: key.rotated_at,
    previous_token_expires_at: overlapEnd !== undefined && Date.parse(overlapEnd) > Date.now() ? overlapEnd : undefined,
  };
}
