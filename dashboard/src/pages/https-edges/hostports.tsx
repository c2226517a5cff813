import { Link } from 'wouter';

import type { HttpsEdge } from '../../../../client/src/index.ts';
import { useList } from '../../api/queries.ts';
import { Button } from '../../components/button.tsx';
import { Panel } from '../../components/page.tsx';
import { Empty } from '../../components/states.tsx';
import { PublicName } from '../../parts/hostports.tsx';
import { CertificateEnd, certificateFor, certificateName, hostOf } from '../../parts/certificates.tsx';

/** Where the edge is reached, and which certificate each name shows. */
export function Hostports({ edge, onAdd }: { readonly edge: HttpsEdge; readonly onAdd?: () => void }) {
  const hostports = edge.hostports ?? [];
  return (
    <Panel
      title="Hostports"
      note={String(hostports.length)}
      flush
      action={
        onAdd === undefined || hostports.length === 0 ? undefined : (
          <Button small icon="plus" onClick={onAdd}>
            Add
          </Button>
        )
      }
      footer={<Link to="/certificates?create=1">Upload a certificate</Link>}
    >
      {hostports.length === 0 ? (
        <Empty
          icon="globe"
          title="No hostports"
          action={onAdd === undefined ? undefined : <Button onClick={onAdd}>Add a hostport</Button>}
        >
          A hostport is a name and the port of the gateway, such as app.example.com:443.
        </Empty>
      ) : (
        <ul className="list">
          {hostports.map((hostport) => (
            <li key={hostport}>
              <div className="t">
                <PublicName kind="https" hostport={hostport} />
                <span className="fine">
                  <ShownCertificate host={hostOf(hostport)} />
                </span>
              </div>
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}

function ShownCertificate({ host }: { readonly host: string }) {
  const { data, hasMore } = useList('TlsCertificatesList');
  if (data === undefined || hasMore) return null;
  const certificate = certificateFor(host, data);
  if (certificate === undefined) return 'Shows a certificate of Gatehouse’s own authority';
  return (
    <>
      Shows <Link to={`/certificates/${certificate.id}`}>{certificateName(certificate)}</Link>,{' '}
      <CertificateEnd certificate={certificate} before="until " />
    </>
  );
}
