import { useState } from 'react';
import { useLocation } from 'wouter';

import { fieldOfError } from '../../api/field-errors.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { Form } from '../../components/form.tsx';
import { Problem } from '../../components/problem.tsx';
import { toast } from '../../components/toast.tsx';
import { nameBytes, nameErrors } from './bot-fields.ts';

export function CreateBot({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const [name, setName] = useState('');
  const change = useChange('BotUsersCreate');
  const field = change.error === undefined ? undefined : fieldOfError(change.error, { name }, nameErrors);
  const submit = async (): Promise<void> => {
    const reply = await change.run({ body: { name } });
    if (reply === undefined) return;
    toast(`Created the bot ${reply.document.name}.`);
    navigate(`/bot-users/${reply.document.id}`);
  };
  return (
    <Dialog
      title="Create a bot"
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="create-bot" disabled={change.isPending}>
            Create bot
          </Button>
        </>
      }
    >
      <Form id="create-bot" label="Create a bot" onSubmit={() => void submit()}>
        <TextField
          label="Name"
          startsFocused
          value={name}
          onChange={(value) => {
            change.reset();
            setName(value);
          }}
          limitBytes={nameBytes}
          hint="What it does. Unique in the account."
          error={field === 'name' ? change.error?.message : undefined}
        />
        {field === undefined ? <Problem error={change.error} /> : null}
      </Form>
    </Dialog>
  );
}
