import type { PageProps } from '../../components/page.tsx';
import { EdgeDetail } from './edge-detail.tsx';
import { EdgeList } from './edge-list.tsx';

export function Page({ id }: PageProps) {
  return id === undefined ? <EdgeList /> : <EdgeDetail key={id} id={id} />;
}
