import { useState } from 'react';

import { useAction } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { fieldOfError } from '../../api/field-errors.ts';
import { DescriptionField } from '../../components/edit-panel.tsx';
import { SelectField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { mapOf, PairsField } from '../../components/list-fields.tsx';
import type { Pair } from '../../components/list-fields.tsx';
import { toast } from '../../components/toast.tsx';
import { useLanding } from '../../lib/url-state.ts';
import type { Backend } from '../../parts/backends.ts';
import { AddressFields, fieldErrors } from './backend-fields.tsx';

export function CreateBackend({
  startsWith,
  onClose,
}: {
  readonly startsWith: Backend['kind'];
  readonly onClose: () => void;
}) {
  const land = useLanding();
  const [kind, setKind] = useState(startsWith);
  const [description, setDescription] = useState('');
  const [address, setAddress] = useState('');
  const [tls, setTls] = useState(false);
  const [labels, setLabels] = useState<readonly Pair[]>([['', '']]);
  const action = useAction();
  const values = { description, address, labels };
  const field = action.error === undefined ? undefined : fieldOfError(action.error, values, fieldErrors);
  const errorAt = (name: keyof typeof values) => (name === field ? action.error?.message : undefined);
  const submit = async (): Promise<void> => {
    let made = '';
    const create = async (): Promise<void> => {
      const { id } =
        kind === 'static'
          ? await client.call('StaticBackendsCreate', { body: { description, address, tls: { enabled: tls } } })
          : await client.call('TunnelGroupBackendsCreate', { body: { description, labels: mapOf(labels) } });
      made = id;
    };
    if (!(await action.run(create))) return;
    toast('Created the backend.');
    land(`/backends/${made}`);
  };
  return (
    <FormDialog
      title="Create a backend"
      act="Create backend"
      isPending={action.isPending}
      error={field === undefined ? action.error : undefined}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <SelectField
        label="Sends traffic to"
        value={kind}
        options={[
          ['static', 'An address'],
          ['tunnel_group', 'The agents that have a label'],
        ]}
        onChange={setKind}
      />
      {kind === 'static' ? (
        <AddressFields address={address} tls={tls} onAddress={setAddress} onTls={setTls} error={errorAt('address')} />
      ) : (
        <PairsField
          label="Labels"
          note="a tunnel belongs to the group if it has all of them"
          nouns={['Label', 'Value']}
          addWords="Add label"
          pairs={labels}
          onChange={setLabels}
          error={errorAt('labels')}
        />
      )}
      <DescriptionField value={description} onChange={setDescription} error={errorAt('description')} />
    </FormDialog>
  );
}
