import { useState } from 'react';

import type { Credential } from '../../../../client/src/index.ts';
import { fieldOfError } from '../../api/field-errors.ts';
import { useChange, useList } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Id, Secret } from '../../components/copy.tsx';
import { DescriptionField } from '../../components/edit-panel.tsx';
import { SelectField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { Facts } from '../../components/page.tsx';
import { ShownOnce } from '../../components/shown-once.tsx';
import { AclField, aclOf, credentialErrors } from './acl-field.tsx';

interface Values {
  readonly description: string;
  readonly owner_id: string;
  readonly acl: readonly string[];
}

/** Makes a credential for an agent, and shows its token once. */
export function CreateCredential({ onClose }: { readonly onClose: () => void }) {
  const { principal, admin } = useSession();
  const { data: bots = [] } = useList('BotUsersList');
  const [values, setValues] = useState<Values>({ description: '', owner_id: principal.id, acl: [] });
  const [created, setCreated] = useState<Credential>();
  const change = useChange('CredentialsCreate');
  const field = change.error === undefined ? undefined : fieldOfError(change.error, values, credentialErrors);
  const errorAt = (name: keyof Values) => (field === name ? change.error?.message : undefined);
  const set = (part: Partial<Values>): void => setValues((before) => ({ ...before, ...part }));
  const submit = async (): Promise<void> => {
    const { owner_id: ownerId, description, acl } = values;
    const reply = await change.run({
      body: { description, acl: aclOf(acl), ...(ownerId === principal.id ? {} : { owner_id: ownerId }) },
    });
    if (reply !== undefined) setCreated(reply.document);
  };
  if (created !== undefined) return <CredentialToken credential={created} onClose={onClose} />;
  return (
    <FormDialog
      title="Connect an agent"
      act="Create credential"
      isPending={change.isPending}
      error={field === undefined ? change.error : undefined}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <p className="soft">An agent signs in with the token of a credential. It is shown in the next step, once.</p>
      <DescriptionField
        value={values.description}
        onChange={(description) => set({ description })}
        error={errorAt('description')}
        startsFocused
      />
      {admin ? (
        <SelectField
          label="Owner"
          value={values.owner_id}
          options={[
            [principal.id, `${principal.name} (you)`],
            ...bots.filter(({ active }) => active).map(({ id, name }) => [id, `${name}, bot`] as const),
          ]}
          onChange={(id) => set({ owner_id: id })}
          hint="Its agents stop when the owner becomes inactive."
          error={errorAt('owner_id')}
        />
      ) : null}
      <AclField acl={values.acl} onChange={(acl) => set({ acl })} error={change.error} />
    </FormDialog>
  );
}

function CredentialToken({ credential, onClose }: { readonly credential: Credential; readonly onClose: () => void }) {
  return (
    <ShownOnce
      token={credential.token ?? ''}
      ifLost="If it is lost, create another credential and delete this one."
      onClose={onClose}
    >
      <Facts
        list
        facts={[
          credential.description === undefined ? undefined : ['Description', credential.description],
          ['May bind', credential.acl.length === 0 ? 'Everything' : credential.acl.join(', ')],
          ['Id', <Id key="id" id={credential.id} whole />],
        ]}
      />
      <div className="stack tight">
        <span className="label">Give it to the agent, with the certificate of this authority</span>
        <Secret what="command" text={`curl -sSO ${location.origin}/local_ca.pem`} />
      </div>
    </ShownOnce>
  );
}
