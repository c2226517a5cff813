import type { PageProps } from '../../components/page.tsx';
import { BackendList } from './backend-list.tsx';
import { GroupDetail } from './group-detail.tsx';
import { StaticDetail } from './static-detail.tsx';

export function Page({ id }: PageProps) {
  if (id === undefined) return <BackendList />;
  return id.startsWith('bkdtg_') ? <GroupDetail key={id} id={id} /> : <StaticDetail key={id} id={id} />;
}
