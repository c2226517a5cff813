import { Link } from 'wouter';

import type { Reply, TunnelGroupBackend } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useEdit } from '../../api/edit.ts';
import { useOne } from '../../api/queries.ts';
import { Detail } from '../../components/detail.tsx';
import { AboutFields, aboutOf, EditPanel } from '../../components/edit-panel.tsx';
import { mapOf, PairsField, pairsOf } from '../../components/list-fields.tsx';
import { toast } from '../../components/toast.tsx';
import { Verdict } from '../../components/verdict.tsx';
import { labelsText } from '../../parts/backends.ts';
import { fieldErrors } from './backend-fields.tsx';
import { BackendPage } from './backend-page.tsx';

export function GroupDetail({ id }: { readonly id: string }) {
  const read = useOne('TunnelGroupBackendsGet', { path: { id } });
  return (
    <Detail read={read} noun="backend" listPath="/backends?kind=tunnel_group">
      {(reply) => {
        const { labels, tunnels } = reply.document;
        return (
          <BackendPage
            reply={reply}
            fallbackName={labelsText(labels)}
            lead={
              tunnels.length === 0
                ? 'No agent has a tunnel with these labels: traffic is answered with 503.'
                : undefined
            }
            facts={[
              ['Labels', <code key="labels">{labelsText(labels)}</code>],
              [
                'Tunnels online',
                tunnels.length === 0 ? (
                  <Verdict key="none" tone="off">
                    None
                  </Verdict>
                ) : (
                  <Link key="some" to={`/agents?tab=tunnels&q=${encodeURIComponent(labelsText(labels))}`}>
                    {tunnels.length}
                  </Link>
                ),
              ],
            ]}
            renderEdit={(onClose) => <EditGroup reply={reply} reread={read.reread} onClose={onClose} />}
          />
        );
      }}
    </Detail>
  );
}

function EditGroup({
  reply,
  reread,
  onClose,
}: {
  readonly reply: Reply<TunnelGroupBackend>;
  readonly reread: () => Promise<Reply<TunnelGroupBackend>>;
  readonly onClose: () => void;
}) {
  const { id } = reply.document;
  const edit = useEdit({
    seen: reply,
    reread,
    toValues: (backend: TunnelGroupBackend) => ({ ...aboutOf(backend), labels: pairsOf(backend.labels) }),
    send: ({ labels, ...rest }, options) =>
      client.call('TunnelGroupBackendsUpdate', {
        path: { id },
        body: { ...rest, ...(labels === undefined ? {} : { labels: mapOf(labels) }) },
        ...options,
      }),
    fieldsByError: fieldErrors,
    onSaved: () => {
      toast('Saved.');
      onClose();
    },
  });
  return (
    <EditPanel label="Edit the backend" edit={edit} onClose={onClose}>
      <PairsField
        label="Labels"
        note="a tunnel belongs to the group if it has all of them"
        nouns={['Label', 'Value']}
        addWords="Add label"
        pairs={edit.values.labels}
        onChange={(labels) => edit.set('labels', labels)}
        error={edit.errorAt('labels')}
      />
      <AboutFields values={edit.values} onChange={edit.setAll} errorAt={edit.errorAt} />
    </EditPanel>
  );
}
