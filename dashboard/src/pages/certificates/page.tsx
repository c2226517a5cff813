import type { PageProps } from '../../components/page.tsx';
import { CertificateDetail } from './certificate-detail.tsx';
import { CertificateList } from './certificate-list.tsx';

export function Page({ id }: PageProps) {
  return id === undefined ? <CertificateList /> : <CertificateDetail key={id} id={id} />;
}
