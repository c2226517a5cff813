import { useSession } from '../api/session.ts';
import { Banner } from './banner.tsx';

/** Rights to write: for everybody, or for admins only. A key that reads only may write nothing. */
export function useMayWrite(who: 'everyone' | 'admins' = 'everyone'): boolean {
  const { role, read_only: isReadOnly } = useSession();
  return !isReadOnly && (who === 'everyone' || role === 'admin');
}

/** Everything is readable, nothing can be changed: says who may, and whom to ask. */
export function LookOnly({ what, who = 'everyone' }: { readonly what: string; readonly who?: 'everyone' | 'admins' }) {
  const { role, read_only: isReadOnly } = useSession();
  if (useMayWrite(who)) return null;
  const reader = role === 'viewer' ? 'a viewer only reads.' : 'the key that you signed in with only reads.';
  return (
    <Banner note="Ask an admin. A link to this page shows them the same.">
      You can look, but not change: {isReadOnly ? reader : `only an admin may write ${what}.`}
    </Banner>
  );
}
