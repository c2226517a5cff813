import type { PageProps } from '../../components/page.tsx';
import { KeyDetail } from './key-detail.tsx';
import { KeyList } from './key-list.tsx';

export function Page({ id }: PageProps) {
  return id === undefined ? <KeyList /> : <KeyDetail key={id} id={id} />;
}
