import { useState } from 'react';

import type { Invitation } from '../../../../client/src/index.ts';
import { useChange } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Secret } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { formatExactly } from '../../lib/time.ts';
import { roleNames, roles, roleWords } from './user-words.ts';
import type { Role } from './user-words.ts';

/** Asks who is invited, and what the person may do. The next step shows the link. */
export function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [role, setRole] = useState<Role>('member');
  const [made, setMade] = useState<Invitation>();
  const { run, isPending, error } = useChange('InvitationsCreate');
  if (made !== undefined) return <LinkDialog invitation={made} onClose={onClose} />;
  return (
    <FormDialog
      title="Invite someone"
      act="Make the link"
      missing={name.trim() === '' ? 'Give a name' : undefined}
      isPending={isPending}
      error={error}
      onSubmit={() =>
        void run({ body: { name, role, ...(email === '' ? {} : { email }) } }).then((reply) => setMade(reply?.document))
      }
      onClose={onClose}
    >
      <TextField label="Name" value={name} onChange={setName} limitBytes={255} startsFocused />
      <TextField
        label="E-mail address"
        note="optional"
        value={email}
        onChange={setEmail}
        hint="Identifies the person. Gatehouse sends no mail."
      />
      <fieldset className="plain">
        <legend className="label">Role</legend>
        <div className="choices">
          {roles.map((each) => (
            <label key={each} className="choice">
              <input type="radio" name="role" checked={role === each} onChange={() => setRole(each)} />
              <span>
                {roleNames[each]}
                <span>{roleWords[each]}</span>
              </span>
            </label>
          ))}
        </div>
      </fieldset>
    </FormDialog>
  );
}

/** The only place that ever shows the link. */
export function LinkDialog({ invitation, onClose }: { readonly invitation: Invitation; readonly onClose: () => void }) {
  const { name, link, expires_at: end } = invitation;
  return (
    <Dialog
      title={`Give this link to ${name}`}
      canClose={false}
      onClose={onClose}
      footer={
        <Button look="primary" onClick={onClose}>
          I have copied it
        </Button>
      }
    >
      <p className="soft">
        It works once, until {formatExactly(end)}, and only from an address that the dashboard lets in. The first person
        who opens it becomes {name}.
      </p>
      <Secret text={link ?? ''} what="link" isMain />
      <p className="soft">It is shown now and never again. If it is lost, “New link…” in the list makes another one.</p>
    </Dialog>
  );
}
