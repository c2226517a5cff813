import type { PageProps } from '../../components/page.tsx';
import { RequestList } from './request-list.tsx';
import { OneRequest } from './one-request.tsx';

export function Page({ id }: PageProps) {
  return id === undefined ? <RequestList /> : <OneRequest key={id} id={id} />;
}
