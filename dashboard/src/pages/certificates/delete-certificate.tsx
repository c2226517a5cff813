import { useLocation } from 'wouter';

import type { Reply, TlsCertificate } from '../../../../client/src/index.ts';
import { demanding, useAction } from '../../api/action.ts';
import { client } from '../../api/client.ts';
import { DeleteDialog } from '../../components/delete-dialog.tsx';
import { toast } from '../../components/toast.tsx';
import { Glyph } from '../../components/verdict.tsx';
import { certificateName } from '../../parts/certificates.tsx';
import { useCertificateUses } from './certificate-uses.ts';

export function DeleteCertificate({
  reply,
  onClose,
}: {
  readonly reply: Reply<TlsCertificate>;
  readonly onClose: () => void;
}) {
  const [, navigate] = useLocation();
  const action = useAction();
  const certificate = reply.document;
  const name = certificateName(certificate);
  const uses = useCertificateUses(certificate.id);
  const run = async (): Promise<void> => {
    const input = { path: { id: certificate.id }, ...demanding(reply.etag) };
    if (!(await action.run(() => client.call('TlsCertificatesDelete', input)))) return;
    toast(`Deleted the certificate ${name}.`);
    navigate('/certificates');
  };
  return (
    <DeleteDialog
      title={`Delete the certificate “${name}”?`}
      lost="Its private key is gone with it. Names that show it get the next best certificate, or one of Gatehouse’s own authority, which browsers do not trust. This cannot be undone."
      uses={
        uses.length === 0 ? undefined : (
          <ul className="rules">
            {uses.map((use) => (
              <li key={use.key}>
                <Glyph tone="warn" />
                <code className="grow">{use.name}</code>
                <span className="end">{use.isHeld ? 'asks for it: take it out there first' : use.text}</span>
              </li>
            ))}
          </ul>
        )
      }
      typeName={uses.length === 0 ? undefined : name}
      act="Delete certificate"
      isPending={action.isPending}
      error={action.error}
      onDelete={() => void run()}
      onClose={onClose}
    />
  );
}
