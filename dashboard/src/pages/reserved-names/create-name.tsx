import { useState } from 'react';
import { useLocation } from 'wouter';

import type { ReservedDomainCreate } from '../../../../client/src/index.ts';
import { fieldOfError } from '../../api/field-errors.ts';
import { useChange, useList } from '../../api/queries.ts';
import { DescriptionField } from '../../components/edit-panel.tsx';
import { SelectField, TextField } from '../../components/field.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { certificateName } from '../../parts/certificates.tsx';
import { nameErrors } from './name-errors.ts';

export function CreateDomain({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const [values, setValues] = useState({ domain: '', description: '', certificate_id: '' });
  const change = useChange('ReservedDomainsCreate');
  const set = (part: Partial<typeof values>): void => setValues({ ...values, ...part });
  const field = change.error === undefined ? undefined : fieldOfError(change.error, values, nameErrors);
  const errorAt = (name: keyof typeof values) => (name === field ? change.error?.message : undefined);
  const submit = async (): Promise<void> => {
    const { certificate_id: certificate, ...rest } = values;
    const reply = await change.run({
      body: { ...rest, ...certificateBody(certificate) },
    });
    if (reply === undefined) return;
    toast(`Reserved ${reply.document.domain}.`);
    navigate(`/reserved-names/${reply.document.id}`);
  };
  return (
    <FormDialog
      title="Reserve a domain"
      act="Reserve domain"
      isPending={change.isPending}
      error={field === undefined ? change.error : undefined}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <TextField
        label="Domain"
        mono
        startsFocused
        placeholder="app.example.com"
        value={values.domain}
        onChange={(domain) => set({ domain })}
        hint="A host name. Its first label may be * for any one label."
        error={errorAt('domain')}
      />
      <CertificateField
        value={values.certificate_id}
        onChange={(id) => set({ certificate_id: id })}
        error={errorAt('certificate_id')}
      />
      <DescriptionField
        value={values.description}
        onChange={(description) => set({ description })}
        error={errorAt('description')}
      />
    </FormDialog>
  );
}

/** In place of the id of a certificate: a public authority issues and renews it. */
export const byAuthority = 'authority';

/** Fields of a call for what was chosen; none where it is left to the gateway. */
export function certificateBody(
  chosen: string,
): Pick<ReservedDomainCreate, 'certificate_id' | 'certificate_management_policy'> {
  if (chosen === '') return {};
  return chosen === byAuthority ? { certificate_management_policy: {} } : { certificate_id: chosen };
}

/** A certificate that the domain asks for, so that nobody deletes it, or a public authority that issues one. */
export function CertificateField({
  value,
  onChange,
  error,
}: {
  readonly value: string;
  readonly onChange: (id: string) => void;
  readonly error: string | undefined;
}) {
  const { data = [] } = useList('TlsCertificatesList');
  return (
    <SelectField
      label="Certificate"
      note="optional"
      value={value}
      options={[
        ['', 'Whichever fits best'],
        [byAuthority, 'One of the public authority, renewed by itself'],
        ...data.map((each) => [each.id, certificateName(each)] as const),
      ]}
      onChange={onChange}
      hint="One that is named here cannot be deleted. The gateway shows the best one in any case."
      error={error}
    />
  );
}

export function CreateAddr({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const [description, setDescription] = useState('');
  const change = useChange('ReservedAddrsCreate');
  const field = change.error === undefined ? undefined : fieldOfError(change.error, { description }, nameErrors);
  const submit = async (): Promise<void> => {
    const reply = await change.run({ body: { description } });
    if (reply === undefined) return;
    toast(`Reserved ${reply.document.addr}.`);
    navigate(`/reserved-names/${reply.document.id}`);
  };
  return (
    <FormDialog
      title="Reserve a TCP address"
      act="Reserve address"
      isPending={change.isPending}
      error={field === undefined ? change.error : undefined}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <p className="soft">A free port of this installation is assigned, and stays the same.</p>
      <DescriptionField
        value={description}
        onChange={setDescription}
        error={field === 'description' ? change.error?.message : undefined}
        startsFocused
      />
    </FormDialog>
  );
}
