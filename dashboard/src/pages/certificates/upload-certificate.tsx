import { useState } from 'react';
import { useLocation } from 'wouter';

import { useChange } from '../../api/queries.ts';
import { DescriptionField } from '../../components/edit-panel.tsx';
import { FormDialog } from '../../components/form-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { certificateName } from '../../parts/certificates.tsx';
import { PemField } from './pem-field.tsx';
import { uploadFieldOf } from './upload-errors.ts';

export function UploadCertificate({ onClose }: { readonly onClose: () => void }) {
  const [, navigate] = useLocation();
  const [chain, setChain] = useState('');
  const [key, setKey] = useState('');
  const [description, setDescription] = useState('');
  const change = useChange('TlsCertificatesCreate');
  const field = change.error === undefined ? undefined : uploadFieldOf(change.error);
  const errorAt = (name: string) => (name === field ? change.error?.message : undefined);
  const submit = async (): Promise<void> => {
    const reply = await change.run({ body: { certificate_pem: chain, private_key_pem: key, description } });
    if (reply === undefined) return;
    toast(`Uploaded the certificate ${certificateName(reply.document)}.`);
    navigate(`/certificates/${reply.document.id}`);
  };
  return (
    <FormDialog
      title="Upload a certificate"
      act="Upload certificate"
      missing={
        chain === '' ? 'Give the certificate to go on' : key === '' ? 'Give the private key to go on' : undefined
      }
      isPending={change.isPending}
      error={field === undefined ? change.error : undefined}
      onSubmit={() => void submit()}
      onClose={onClose}
    >
      <PemField
        label="Certificate"
        hint="The certificate and its chain in PEM, leaf first."
        value={chain}
        onChange={setChain}
        error={errorAt('certificate_pem')}
      />
      <PemField
        label="Private key"
        hint="In PEM, without a passphrase. It is never shown again."
        value={key}
        onChange={setKey}
        error={errorAt('private_key_pem')}
      />
      <DescriptionField value={description} onChange={setDescription} error={errorAt('description')} />
    </FormDialog>
  );
}
