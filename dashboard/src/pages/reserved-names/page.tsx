import type { PageProps } from '../../components/page.tsx';
import { AddrDetail } from './addr-detail.tsx';
import { DomainDetail } from './domain-detail.tsx';
import { NameList } from './name-list.tsx';

export function Page({ id }: PageProps) {
  if (id === undefined) return <NameList />;
  return id.startsWith('ra_') ? <AddrDetail key={id} id={id} /> : <DomainDetail key={id} id={id} />;
}
