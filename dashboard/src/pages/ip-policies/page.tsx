import type { PageProps } from '../../app/pages.ts';
import { PolicyDetail } from './policy-detail.tsx';
import { PolicyList } from './policy-list.tsx';

export function Page({ id }: PageProps) {
  return id === undefined ? <PolicyList /> : <PolicyDetail key={id} id={id} />;
}
