import { ButtonLink } from '../components/button.tsx';
import { pastRequests } from './past-requests.ts';
import type { RequestFilter } from './past-requests.ts';

/** Leads to who was refused in the last day. */
export function RefusedLately({ of, small = false }: { readonly of: RequestFilter; readonly small?: boolean }) {
  return (
    <ButtonLink small={small} to={pastRequests({ ...of, verdict: 'refused', range: 'day' })}>
      Refused in the last day
    </ButtonLink>
  );
}
