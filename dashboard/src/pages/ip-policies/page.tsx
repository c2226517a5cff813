import type { PageProps } from '../../components/page.tsx';
import { PolicyDetail } from './policy-detail.tsx';
import { PolicyList } from './policy-list.tsx';

export function Page({ id }: PageProps) {
  return id === undefined ? <PolicyList /> : <PolicyDetail key={id} id={id} />;
}
