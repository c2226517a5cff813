import { Link } from 'wouter';

import type { Reply, ReservedDomain } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useEdit } from '../../api/edit.ts';
import { useList, useOne } from '../../api/queries.ts';
import { Detail } from '../../components/detail.tsx';
import { AboutFields, aboutOf, EditPanel } from '../../components/edit-panel.tsx';
import type { Fact } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { shortId } from '../../lib/text.ts';
import { ManagementState } from '../../parts/certificate-management.tsx';
import { certificateFor, certificateName } from '../../parts/certificates.tsx';
import { byAuthority, certificateBody, CertificateField } from './create-name.tsx';
import { nameErrors } from './name-errors.ts';
import { NamePage } from './name-page.tsx';

export function DomainDetail({ id }: { readonly id: string }) {
  const read = useOne('ReservedDomainsGet', { path: { id } });
  return (
    <Detail read={read} noun="domain" listPath="/reserved-names">
      {(reply) => (
        <NamePage
          reply={reply}
          name={reply.document.domain}
          facts={[
            ...managementFacts(reply.document),
            ['Asks for', <AskedCertificate key="asks" domain={reply.document} />],
            ['Shown to visitors', <ShownCertificate key="shown" host={reply.document.domain} />],
          ]}
          renderEdit={(onClose) => <EditDomain reply={reply} reread={read.reread} onClose={onClose} />}
        />
      )}
    </Detail>
  );
}

/** Facts about a certificate that a public authority issues and renews; none without a policy. */
function managementFacts(domain: ReservedDomain): readonly Fact[] {
  const { certificate, certificate_management_policy: policy, certificate_management_status: status } = domain;
  if (policy === null) return [];
  const renewal = status?.renews_at ?? null;
  const state = <ManagementState key="state" status={status} hasCertificate={certificate !== null} />;
  return [
    ['Public certificate', state],
    ...(renewal === null ? [] : [['Next renewal', <Time key="renewal" at={renewal} />] as const]),
  ];
}

function AskedCertificate({ domain: { certificate } }: { readonly domain: ReservedDomain }) {
  const { data = [] } = useList('TlsCertificatesList');
  if (certificate === null) return <span className="muted">No certificate</span>;
  const found = data.find(({ id }) => id === certificate.id);
  return (
    <Link to={`/certificates/${certificate.id}`}>
      {found === undefined ? shortId(certificate.id) : certificateName(found)}
    </Link>
  );
}

function ShownCertificate({ host }: { readonly host: string }) {
  const { data } = useList('TlsCertificatesList');
  if (data === undefined) return null;
  const certificate = certificateFor(host, data);
  if (certificate === undefined) return 'One of Gatehouse’s own authority';
  return <Link to={`/certificates/${certificate.id}`}>{certificateName(certificate)}</Link>;
}

function chosenOf({ certificate, certificate_management_policy: policy }: ReservedDomain): string {
  return policy === null ? (certificate?.id ?? '') : byAuthority;
}

function EditDomain({
  reply,
  reread,
  onClose,
}: {
  readonly reply: Reply<ReservedDomain>;
  readonly reread: () => Promise<Reply<ReservedDomain>>;
  readonly onClose: () => void;
}) {
  const { id } = reply.document;
  const isManaged = chosenOf(reply.document) === byAuthority;
  const edit = useEdit({
    seen: reply,
    reread,
    toValues: (domain: ReservedDomain) => ({ ...aboutOf(domain), certificate_id: chosenOf(domain) }),
    send: async ({ certificate_id: certificate, ...rest }, options) => {
      const isTakenAway = certificate === '';
      await client.call('ReservedDomainsUpdate', {
        path: { id },
        body: { ...rest, ...(certificate === undefined ? {} : certificateBody(certificate)) },
        ...options,
      });
      // A certificate is taken away by a call of its own, after the one that checks what was seen.
      if (!isTakenAway) return;
      if (isManaged) await client.call('ReservedDomainsDeleteCertificateManagementPolicy', { path: { id } });
      await client.call('ReservedDomainsDeleteCertificate', { path: { id } });
    },
    fieldsByError: nameErrors,
    onSaved: () => {
      toast('Saved.');
      onClose();
    },
  });
  return (
    <EditPanel label="Edit the domain" edit={edit} onClose={onClose}>
      <CertificateField
        value={edit.values.certificate_id}
        onChange={(certificate) => edit.set('certificate_id', certificate)}
        error={edit.errorAt('certificate_id')}
      />
      <AboutFields values={edit.values} onChange={edit.setAll} errorAt={edit.errorAt} />
    </EditPanel>
  );
}
