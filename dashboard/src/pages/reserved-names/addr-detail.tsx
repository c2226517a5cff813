import type { Reply, ReservedAddr } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useEdit } from '../../api/edit.ts';
import { useOne } from '../../api/queries.ts';
import { Detail } from '../../components/detail.tsx';
import { AboutFields, aboutOf, EditPanel } from '../../components/edit-panel.tsx';
import { toast } from '../../components/toast.tsx';
import { nameErrors } from './name-errors.ts';
import { NamePage } from './name-page.tsx';

export function AddrDetail({ id }: { readonly id: string }) {
  const read = useOne('ReservedAddrsGet', { path: { id } });
  return (
    <Detail read={read} noun="address" listPath="/reserved-names?kind=addresses">
      {(reply) => (
        <NamePage
          reply={reply}
          name={reply.document.addr}
          renderEdit={(onClose) => <EditAddr reply={reply} reread={read.reread} onClose={onClose} />}
        />
      )}
    </Detail>
  );
}

function EditAddr({
  reply,
  reread,
  onClose,
}: {
  readonly reply: Reply<ReservedAddr>;
  readonly reread: () => Promise<Reply<ReservedAddr>>;
  readonly onClose: () => void;
}) {
  const { id } = reply.document;
  const edit = useEdit({
    seen: reply,
    reread,
    toValues: (addr: ReservedAddr) => ({ ...aboutOf(addr) }),
    send: (body, options) => client.call('ReservedAddrsUpdate', { path: { id }, body, ...options }),
    fieldsByError: nameErrors,
    onSaved: () => {
      toast('Saved.');
      onClose();
    },
  });
  return (
    <EditPanel label="Edit the address" edit={edit} onClose={onClose}>
      <AboutFields values={edit.values} onChange={edit.setAll} errorAt={edit.errorAt} />
    </EditPanel>
  );
}
