import { useChange } from '../../api/queries.ts';
import { Problem } from '../../components/problem.tsx';
import { useMayWrite } from '../../components/rights.tsx';
import { toast } from '../../components/toast.tsx';

/** Ends one session, or all of a person; `what` says which. */
export function EndButton({
  operation,
  id,
  what,
  words,
  isSmall = true,
}: {
  readonly operation: 'ApplicationUsersDelete' | 'ApplicationSessionsDelete';
  readonly id: string;
  readonly what: string;
  readonly words: string;
  readonly isSmall?: boolean;
}) {
  const mayWrite = useMayWrite();
  const change = useChange(operation);
  const end = async (): Promise<void> => {
    const done = await change.run({ path: { id } });
    if (done !== undefined) toast(`Ended ${what}.`);
  };
  if (!mayWrite) return null;
  return (
    <>
      <button
        type="button"
        className={isSmall ? 'btn sm' : 'btn'}
        disabled={change.isPending}
        aria-label={`End ${what}`}
        onClick={() => void end()}
      >
        {words}
      </button>
      {change.error === undefined ? null : <Problem error={change.error} />}
    </>
  );
}
