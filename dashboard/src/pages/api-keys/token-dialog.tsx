import type { ApiKey } from '../../../../client/src/index.ts';
import { useOwners } from '../../api/owners.ts';
import { Id, Secret } from '../../components/copy.tsx';
import { Facts } from '../../components/page.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { Expiry, oldTokenWords } from './key-state.tsx';

/** The token of a new or rotated key, and how to try it. */
export function TokenDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const owner = useOwners()(apiKey.owner_id);
  const { previous_token_expires_at: oldUntil } = apiKey;
  return (
    <ShownOnce
      token={apiKey.token ?? ''}
      ifLost="If it is lost, give the key another one: the old one stops working then."
      onClose={onClose}
    >
      <Facts
        list
        facts={[
          apiKey.description === undefined ? undefined : ['Description', apiKey.description],
          ['Owner', `${owner.name}, ${owner.kind}`],
          ['Expires', <Expiry key="end" apiKey={apiKey} />],
          oldUntil === undefined ? undefined : ['Old token', oldTokenWords(oldUntil)],
          ['Id', <Id key="id" id={apiKey.id} whole />],
        ]}
      />
      <div className="stack tight">
        <span className="label">Try it</span>
        <Secret
          what="command"
          text={`curl -sS ${location.origin}/api_keys -H "Authorization: Bearer $TOKEN" -H "Service-Version: 2"`}
        />
      </div>
    </ShownOnce>
  );
}
