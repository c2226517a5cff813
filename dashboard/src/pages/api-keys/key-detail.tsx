import { Link } from 'wouter';

import type { ApiKey, Reply } from '../../../../client/src/index.ts';
import { useOwners } from '../../api/owners.ts';
import { useList, useOne } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { useCrumb } from '../../components/crumb.tsx';
import { Button } from '../../components/button.tsx';
import { Id } from '../../components/copy.tsx';
import { Detail } from '../../components/detail.tsx';
import { EditActs } from '../../components/edit-panel.tsx';
import { Facts, PageHead, Panel } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { nameOf } from '../../lib/text.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { DeleteKey } from './delete-key.tsx';
import { EditKey } from './edit-key.tsx';
import { Expiry, KeyBadges, LastUse } from './key-state.tsx';
import { RotateKey } from './rotate-key.tsx';

export function KeyDetail({ id }: { readonly id: string }) {
  const read = useOne('ApiKeysGet', { path: { id } });
  return (
    <Detail read={read} noun="key" listPath="/api-keys">
      {(reply) => <Shown reply={reply} reread={read.reread} />}
    </Detail>
  );
}

function Shown({ reply, reread }: { readonly reply: Reply<ApiKey>; readonly reread: () => Promise<Reply<ApiKey>> }) {
  const key = reply.document;
  const [params, setParams] = useUrlState();
  const { principal, admin, read_only: isReadOnly, api_key: mine } = useSession();
  const mayWrite = !isReadOnly && (admin || key.owner_id === principal.id);
  const close = (name: string) => () => setParams({ [name]: undefined });
  useCrumb(nameOf(key));
  return (
    <>
      <PageHead
        title={nameOf(key)}
        badge={<KeyBadges apiKey={key} />}
        lead={key.id === mine.id ? 'You are signed in with this key.' : undefined}
        actions={
          mayWrite && !params.has('edit') ? (
            <EditActs between={<Button onClick={() => setParams({ rotate: '1' })}>New token…</Button>} />
          ) : undefined
        }
      />
      {params.has('edit') && mayWrite ? (
        <EditKey seen={reply} reread={reread} onClose={close('edit')} />
      ) : (
        <KeyFacts apiKey={key} />
      )}
      {params.has('rotate') && mayWrite ? <RotateKey apiKey={key} onClose={close('rotate')} /> : null}
      {params.has('delete') && mayWrite ? <DeleteKey id={key.id} onClose={close('delete')} /> : null}
    </>
  );
}

function KeyFacts({ apiKey: key }: { readonly apiKey: ApiKey }) {
  const owner = useOwners()(key.owner_id);
  const { rotated_at: rotated, previous_token_expires_at: oldUntil } = key;
  return (
    <Panel>
      <Facts
        facts={[
          ['Owner', <OwnerLink key="owner" id={key.owner_id} name={`${owner.name}, ${owner.kind}`} />],
          ['Last used', <LastUse key="used" apiKey={key} />],
          ['Expires', <Expiry key="end" apiKey={key} />],
          ['May', key.read_only === true ? 'Read only' : 'Whatever its owner may'],
          ['From', <Sources key="from" ids={key.ip_policy_ids ?? []} />],
          ['Created', <Time key="at" at={key.created_at} />],
          rotated === undefined ? undefined : ['Newest token', <Time key="rotated" at={rotated} />],
          oldUntil === undefined
            ? undefined
            : [
                'Old token',
                <span key="old">
                  works until <Time at={oldUntil} />
                </span>,
              ],
          ['Id', <Id key="id" id={key.id} />],
          key.metadata === undefined ? undefined : ['Metadata', <code key="metadata">{key.metadata}</code>],
        ]}
      />
    </Panel>
  );
}

function OwnerLink({ id, name }: { readonly id: string; readonly name: string }) {
  return id.startsWith('bot_') ? <Link to={`/bot-users/${id}`}>{name}</Link> : name;
}

function Sources({ ids }: { readonly ids: readonly string[] }) {
  const { data: policies = [] } = useList('IpPoliciesList', { enabled: ids.length > 0 });
  if (ids.length === 0) return 'Any address that the API lets in';
  return ids.map((id) => (
    <div key={id}>
      <Link to={`/ip-policies/${id}`}>{nameOf(policies.find((policy) => policy.id === id) ?? { id })}</Link>
    </div>
  ));
}
