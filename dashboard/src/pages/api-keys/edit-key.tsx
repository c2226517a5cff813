import type { ApiKey, ApiKeyUpdate, Reply } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useEdit } from '../../api/edit.ts';
import { aboutOf, DescriptionField, EditPanel, MetadataField } from '../../components/edit-panel.tsx';
import type { About } from '../../components/edit-panel.tsx';
import { toast } from '../../components/toast.tsx';
import { keyErrors } from './key-errors.ts';
import { endOfDay, LimitFields } from './limits.tsx';
import type { Limits } from './limits.tsx';

type Values = Limits & About;

function valuesOf(key: ApiKey): Values {
  return {
    ...aboutOf(key),
    expires_at: key.expires_at?.slice(0, 10) ?? '',
    ip_policy_ids: key.ip_policy_ids ?? [],
    read_only: key.read_only ?? false,
  };
}

function bodyOf({ expires_at: day, ip_policy_ids: policies, ...rest }: Partial<Values>): ApiKeyUpdate {
  return {
    ...rest,
    ...(day === undefined ? {} : { expires_at: endOfDay(day) }),
    ...(policies === undefined ? {} : { ip_policy_ids: [...policies] }),
  };
}

export function EditKey({
  seen,
  reread,
  onClose,
}: {
  readonly seen: Reply<ApiKey>;
  readonly reread: () => Promise<Reply<ApiKey>>;
  readonly onClose: () => void;
}) {
  const { id } = seen.document;
  const edit = useEdit({
    seen,
    reread,
    toValues: valuesOf,
    send: (changed, options) => client.call('ApiKeysUpdate', { path: { id }, body: bodyOf(changed), ...options }),
    fieldsByError: keyErrors,
    onSaved: () => {
      toast('Saved.');
      onClose();
    },
  });
  return (
    <EditPanel label="Edit the key" edit={edit} onClose={onClose}>
      <DescriptionField
        hint="What uses it. Shown in lists."
        value={edit.values.description}
        onChange={(value) => edit.set('description', value)}
        error={edit.errorAt('description')}
      />
      <LimitFields values={edit.values} onChange={edit.setAll} errorAt={edit.errorAt} />
      <MetadataField
        value={edit.values.metadata}
        onChange={(value) => edit.set('metadata', value)}
        error={edit.errorAt('metadata')}
      />
    </EditPanel>
  );
}
