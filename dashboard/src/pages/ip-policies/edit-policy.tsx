import type { IpPolicy, Reply } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useEdit } from '../../api/edit.ts';
import { AboutFields, aboutOf, EditPanel } from '../../components/edit-panel.tsx';
import { toast } from '../../components/toast.tsx';
import { policyErrors } from './create-policy.tsx';

export function EditPolicy({
  seen,
  reread,
  onClose,
}: {
  readonly seen: Reply<IpPolicy>;
  readonly reread: () => Promise<Reply<IpPolicy>>;
  readonly onClose: () => void;
}) {
  const { id } = seen.document;
  const edit = useEdit({
    seen,
    reread,
    toValues: (policy: IpPolicy) => aboutOf(policy),
    send: (body, options) => client.call('IpPoliciesUpdate', { path: { id }, body, ...options }),
    fieldsByError: policyErrors,
    onSaved: () => {
      toast('Saved.');
      onClose();
    },
  });
  return (
    <EditPanel label="Edit the policy" edit={edit} onClose={onClose}>
      <AboutFields values={edit.values} onChange={edit.setAll} errorAt={edit.errorAt} />
    </EditPanel>
  );
}
