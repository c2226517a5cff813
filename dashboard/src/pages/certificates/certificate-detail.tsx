import { Link } from 'wouter';

import type { Reply, TlsCertificate } from '../../../../client/src/index.ts';
import { client } from '../../api/client.ts';
import { useEdit } from '../../api/edit.ts';
import { useOne } from '../../api/queries.ts';
import { useCrumb } from '../../components/crumb.tsx';
import { CopyButton, Id } from '../../components/copy.tsx';
import { Detail } from '../../components/detail.tsx';
import { AboutFields, aboutOf, EditActs, EditPanel } from '../../components/edit-panel.tsx';
import { Facts, PageHead, Panel } from '../../components/page.tsx';
import { LookOnly, useMayWrite } from '../../components/rights.tsx';
import { Empty } from '../../components/states.tsx';
import { Time } from '../../components/time.tsx';
import { toast } from '../../components/toast.tsx';
import { daysUntil, formatDate } from '../../lib/time.ts';
import { useUrlState } from '../../lib/url-state.ts';
import { CertificateEnd, certificateName, namesOf } from '../../parts/certificates.tsx';
import { useCertificateUses } from './certificate-uses.ts';
import { DeleteCertificate } from './delete-certificate.tsx';

export function CertificateDetail({ id }: { readonly id: string }) {
  const read = useOne('TlsCertificatesGet', { path: { id } });
  return (
    <Detail read={read} noun="certificate" listPath="/certificates">
      {(reply) => <Shown reply={reply} reread={read.reread} />}
    </Detail>
  );
}

interface Props {
  readonly reply: Reply<TlsCertificate>;
  readonly reread: () => Promise<Reply<TlsCertificate>>;
}

function Shown({ reply, reread }: Props) {
  const certificate = reply.document;
  const [params, setParams] = useUrlState();
  const mayWrite = useMayWrite();
  const isEditing = params.has('edit') && mayWrite;
  useCrumb(certificateName(certificate));
  return (
    <>
      <PageHead
        title={certificateName(certificate)}
        badge={daysUntil(certificate.not_after) < 30 ? <CertificateEnd certificate={certificate} /> : undefined}
        actions={mayWrite && !isEditing ? <EditActs /> : undefined}
      />
      <LookOnly what="certificates" />
      {isEditing ? (
        <EditCertificate reply={reply} reread={reread} onClose={() => setParams({ edit: undefined })} />
      ) : null}
      <div className="cols">
        <Names certificate={certificate} />
        <CertificateFacts certificate={certificate} />
      </div>
      <Uses certificate={certificate} />
      {params.has('delete') && mayWrite ? (
        <DeleteCertificate reply={reply} onClose={() => setParams({ delete: undefined })} />
      ) : null}
    </>
  );
}

function Names({ certificate }: { readonly certificate: TlsCertificate }) {
  const names = namesOf(certificate);
  return (
    <Panel title="It is for" note={String(names.length)} flush>
      <ul className="list">
        {names.map((name) => (
          <li key={name}>
            <code className="grow">{name}</code>
            <CopyButton text={name} />
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function CertificateFacts({ certificate }: { readonly certificate: TlsCertificate }) {
  const { not_before: start, not_after: end, issuer_common_name: issuer, metadata } = certificate;
  return (
    <Panel title="Facts">
      <Facts
        list
        facts={[
          [
            'Valid from',
            <time key="from" dateTime={start} title={start}>
              {formatDate(start)}
            </time>,
          ],
          [
            'Valid until',
            <time key="until" dateTime={end} title={end}>
              {formatDate(end)}
            </time>,
          ],
          ['Issuer', issuer === '' ? 'Unnamed' : issuer],
          ['Subject', certificate.subject_common_name === '' ? 'Unnamed' : certificate.subject_common_name],
          ['Key', certificate.private_key_type.toUpperCase()],
          ['Serial number', <code key="serial">{certificate.serial_number}</code>],
          [certificate.issued_at === null ? 'Uploaded' : 'Issued', <Time key="at" at={certificate.created_at} />],
          ['Id', <Id key="id" id={certificate.id} />],
          metadata === undefined ? undefined : ['Metadata', <code key="metadata">{metadata}</code>],
        ]}
      />
    </Panel>
  );
}

function Uses({ certificate }: { readonly certificate: TlsCertificate }) {
  const uses = useCertificateUses(certificate.id);
  return (
    <Panel title="Shown by" note="the names that get it now" flush>
      {uses.length === 0 ? (
        <Empty icon="globe" title="No edge shows it, and no reserved name asks for it">
          It is shown as soon as an edge has a hostport with one of its names.
        </Empty>
      ) : (
        <ul className="list">
          {uses.map((use) => (
            <li key={use.key}>
              <code className="grow">{use.name}</code>
              <Link to={use.to}>{use.text}</Link>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function EditCertificate({ reply, reread, onClose }: Props & { readonly onClose: () => void }) {
  const { id } = reply.document;
  const edit = useEdit({
    seen: reply,
    reread,
    toValues: (certificate: TlsCertificate) => ({ ...aboutOf(certificate) }),
    send: (body, options) => client.call('TlsCertificatesUpdate', { path: { id }, body, ...options }),
    fieldsByError: { 1916: 'description', 1917: 'metadata' },
    onSaved: () => {
      toast('Saved.');
      onClose();
    },
  });
  return (
    <EditPanel label="Edit the certificate" edit={edit} onClose={onClose}>
      <p className="soft">
        The certificate itself cannot be changed. Upload the new one: it takes over where it ends later.
      </p>
      <AboutFields values={edit.values} onChange={edit.setAll} errorAt={edit.errorAt} />
    </EditPanel>
  );
}
