import type { IpRestriction, IpRestrictionUpdate, Reply } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useEdit } from '../../api/edit.ts';
import { EditPanel, MetadataField } from '../../components/edit-panel.tsx';
import { toast } from '../../components/toast.tsx';
import { RestrictionFields } from './restriction-fields.tsx';
import type { CommonValues } from './restriction-fields.tsx';
import { restrictionErrors } from './restriction-words.ts';
import { useAllowMe } from './use-allow-me.tsx';

interface Values extends CommonValues {
  readonly metadata: string;
}

function valuesOf({ description = '', metadata = '', ip_policies: policies }: IpRestriction): Values {
  return { description, metadata, ip_policy_ids: policies.map(({ id }) => id) };
}

function bodyOf({ ip_policy_ids: ids, ...rest }: Partial<Values>): IpRestrictionUpdate {
  return { ...rest, ...(ids === undefined ? {} : { ip_policy_ids: [...ids] }) };
}

export function EditRestriction({
  seen,
  reread,
  onClose,
}: {
  readonly seen: Reply<IpRestriction>;
  readonly reread: () => Promise<Reply<IpRestriction>>;
  readonly onClose: () => void;
}) {
  const { id } = seen.document;
  const edit = useEdit({
    seen,
    reread,
    toValues: valuesOf,
    send: (changed, options) =>
      client.call('IpRestrictionsUpdate', { path: { id }, body: bodyOf(changed), ...options }),
    fieldsByError: restrictionErrors,
    onSaved: () => {
      toast('Saved.');
      onClose();
    },
  });
  const allowMe = useAllowMe(edit.values.ip_policy_ids[0], () => void edit.save());
  return (
    <EditPanel label="Edit the restriction" edit={edit} onAllow={allowMe.run} onClose={onClose}>
      {allowMe.problem}
      <RestrictionFields values={edit.values} onChange={edit.setAll} errorAt={edit.errorAt} startsFocused />
      <MetadataField
        value={edit.values.metadata}
        onChange={(value) => edit.set('metadata', value)}
        error={edit.errorAt('metadata')}
      />
    </EditPanel>
  );
}
