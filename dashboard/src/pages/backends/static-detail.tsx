import type { Reply, StaticBackend } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useEdit } from '../../api/edit.ts';
import { useOne } from '../../api/queries.ts';
import { Detail } from '../../components/detail.tsx';
import { AboutFields, aboutOf, EditPanel } from '../../components/edit-panel.tsx';
import { toast } from '../../components/toast.tsx';
import { AddressFields, fieldErrors } from './backend-fields.tsx';
import { BackendPage } from './backend-page.tsx';

export function StaticDetail({ id }: { readonly id: string }) {
  const read = useOne('StaticBackendsGet', { path: { id } });
  return (
    <Detail read={read} noun="backend" listPath="/backends">
      {(reply) => (
        <BackendPage
          reply={reply}
          fallbackName={reply.document.address}
          facts={[
            ['Address', <code key="address">{reply.document.address}</code>],
            ['Spoken to', reply.document.tls.enabled ? 'over TLS' : 'in plain'],
          ]}
          renderEdit={(onClose) => <EditStatic reply={reply} reread={read.reread} onClose={onClose} />}
        />
      )}
    </Detail>
  );
}

function EditStatic({
  reply,
  reread,
  onClose,
}: {
  readonly reply: Reply<StaticBackend>;
  readonly reread: () => Promise<Reply<StaticBackend>>;
  readonly onClose: () => void;
}) {
  const { id } = reply.document;
  const edit = useEdit({
    seen: reply,
    reread,
    toValues: (backend: StaticBackend) => ({
      ...aboutOf(backend),
      address: backend.address,
      tls: { enabled: backend.tls.enabled },
    }),
    send: (body, options) => client.call('StaticBackendsUpdate', { path: { id }, body, ...options }),
    fieldsByError: fieldErrors,
    onSaved: () => {
      toast('Saved.');
      onClose();
    },
  });
  return (
    <EditPanel label="Edit the backend" edit={edit} onClose={onClose}>
      <AddressFields
        address={edit.values.address}
        tls={edit.values.tls.enabled}
        onAddress={(address) => edit.set('address', address)}
        onTls={(enabled) => edit.set('tls', { enabled })}
        error={edit.errorAt('address')}
      />
      <AboutFields values={edit.values} onChange={edit.setAll} errorAt={edit.errorAt} />
    </EditPanel>
  );
}
