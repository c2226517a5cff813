import type { PageProps } from '../../app/pages.ts';
import { KeyDetail } from './key-detail.tsx';
import { KeyList } from './key-list.tsx';

export function Page({ id }: PageProps) {
  return id === undefined ? <KeyList /> : <KeyDetail key={id} id={id} />;
}
