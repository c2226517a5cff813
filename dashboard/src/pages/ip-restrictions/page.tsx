import type { PageProps } from '../../components/page.tsx';
import { RestrictionDetail } from './restriction-detail.tsx';
import { RestrictionList } from './restriction-list.tsx';

export function Page({ id }: PageProps) {
  return id === undefined ? <RestrictionList /> : <RestrictionDetail key={id} id={id} />;
}
