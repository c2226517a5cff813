import { useState } from 'react';

import type { ApiKey } from '../../../../client/src/index.ts';
import { fieldOfError } from '../../api/field-errors.ts';
import { useChange, useList } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { descriptionBytes, SelectField, TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Problem } from '../../components/problem.tsx';
import { keyErrors } from './key-errors.ts';
import { endOfDay, LimitFields } from './limits.tsx';
import type { Limits } from './limits.tsx';
import { TokenDialog } from './token-dialog.tsx';

interface Values extends Limits {
  readonly description: string;
  readonly owner_id: string;
}

export function CreateKey({ onClose }: { readonly onClose: () => void }) {
  const { principal, admin } = useSession();
  const { data: bots = [] } = useList('BotUsersList');
  const [values, setValues] = useState<Values>({
    description: '',
    owner_id: principal.id,
    expires_at: '',
    ip_policy_ids: [],
    read_only: false,
  });
  const [created, setCreated] = useState<ApiKey>();
  const change = useChange('ApiKeysCreate');
  const field = change.error === undefined ? undefined : fieldOfError(change.error, values, keyErrors);
  const errorAt = (name: keyof Values) => (field === name ? change.error?.message : undefined);
  const set = (part: Partial<Values>): void => {
    change.reset();
    setValues((before) => ({ ...before, ...part }));
  };

  const submit = async (): Promise<void> => {
    const { owner_id: ownerId, expires_at: day, ip_policy_ids: policies, ...rest } = values;
    const reply = await change.run({
      body: {
        ...rest,
        ip_policy_ids: [...policies],
        ...(day === '' ? {} : { expires_at: endOfDay(day) }),
        ...(ownerId === principal.id ? {} : { owner_id: ownerId }),
      },
    });
    if (reply !== undefined) setCreated(reply.document);
  };

  if (created !== undefined) return <TokenDialog apiKey={created} onClose={onClose} />;
  return (
    <Dialog
      title="Create an API key"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="create-key" disabled={change.isPending}>
            Create key
          </Button>
        </>
      }
    >
      <Form id="create-key" label="Create an API key" onSubmit={() => void submit()}>
        <TextField
          label="Description"
          note="optional"
          startsFocused
          value={values.description}
          onChange={(description) => set({ description })}
          limitBytes={descriptionBytes}
          hint="What uses it. Shown in lists."
          error={errorAt('description')}
        />
        <SelectField
          label="Owner"
          value={values.owner_id}
          onChange={(id) => set({ owner_id: id })}
          options={[
            [principal.id, `${principal.name}, you`],
            ...(admin
              ? bots.map(({ id, name, active }) => [id, `${name}, bot${active ? '' : ', inactive'}`] as const)
              : []),
          ]}
          hint="The key has the owner’s rights, and dies with the owner."
          error={errorAt('owner_id')}
        />
        <LimitFields values={values} onChange={set} errorAt={errorAt} />
        {field === undefined ? <Problem error={change.error} /> : null}
      </Form>
    </Dialog>
  );
}
