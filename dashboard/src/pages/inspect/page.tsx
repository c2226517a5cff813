import type { PageProps } from '../../components/page.tsx';
import { InspectionList } from './inspection-list.tsx';
import { OneInspection } from './one-inspection.tsx';

export function Page({ id }: PageProps) {
  return id === undefined ? <InspectionList /> : <OneInspection key={id} id={id} />;
}
