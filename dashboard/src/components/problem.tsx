import { useState } from 'react';

import { ApiError } from '../../../client/src/index.ts';
import { errorNumbers } from '../api/client.ts';
import type { CallError } from '../api/client.ts';
import type { Edit } from '../api/edit.ts';
import { useOwners } from '../api/owners.ts';
import { useOne } from '../api/queries.ts';
import { useSession } from '../api/session.ts';
import { formatTime } from '../lib/time.ts';
import { Banner } from './banner.tsx';
import { Button } from './button.tsx';
import { Diff } from './diff.tsx';
import { ErrorFacts } from './states.tsx';

export function isLockout(error: CallError | undefined): boolean {
  return error instanceof ApiError && error.number === errorNumbers.wouldLockOut;
}

/** A call that failed: the server's own words. Put it where the act is, not over the page. */
export function Problem({ error }: { readonly error: CallError | undefined }) {
  if (error === undefined) return null;
  return (
    <Banner tone="deny" note={<ErrorFacts error={error} />}>
      {error.message}
    </Banner>
  );
}

/** Shows the fault of an act without input: what somebody else did meanwhile is on the page by now. */
export function ActProblem({ error }: { readonly error: CallError | undefined }) {
  if (error instanceof ApiError && error.number === errorNumbers.stale) {
    return (
      <Banner
        tone="warn"
        note="Nothing was changed. The page shows the newest state: do it again if you still want it."
      >
        Somebody else changed this in the meantime.
      </Banner>
    );
  }
  return <Problem error={error} />;
}

/** 409 20005: nothing was changed. The way in comes first, the override is second and quiet. */
export function LockoutBanner({
  error,
  onAllow,
  onOverride,
}: {
  readonly error: CallError;
  /** Lets the caller's address in, then goes on; left out where the page cannot know by which policy. */
  readonly onAllow?: (() => void) | undefined;
  readonly onOverride: () => void;
}) {
  const { address } = useSession();
  return (
    <Banner
      tone="deny"
      note={
        <>
          Nothing was changed. Somebody who is locked out can get back in only on the host, with{' '}
          <code>gatehouse restrictions disable</code>. <ErrorFacts error={error} />
        </>
      }
      actions={
        <>
          {onAllow === undefined ? null : (
            <Button small look="primary" onClick={onAllow}>
              Allow my address and go on
            </Button>
          )}
          <Button small look="danger-quiet" onClick={onOverride}>
            Lock me out
          </Button>
        </>
      }
    >
      This would lock you out: your next call from <code>{address}</code> would be refused.
    </Banner>
  );
}

/** All that can go wrong when an edit is saved, except what stands beside a field. */
export function EditProblem<Document extends { readonly id?: string }, Values extends object>({
  edit,
  onAllow,
}: {
  readonly edit: Edit<Document, Values>;
  readonly onAllow?: () => void;
}) {
  if (edit.stale !== undefined) return <StaleBanner edit={edit} {...edit.stale} />;
  if (edit.error === undefined || edit.fieldOfError !== undefined) return null;
  if (isLockout(edit.error)) {
    return (
      <LockoutBanner error={edit.error} onAllow={onAllow} onOverride={() => void edit.save({ allowLockout: true })} />
    );
  }
  return <Problem error={edit.error} />;
}

/** 412: somebody else's change is shown, never overwritten; the input stays. */
function StaleBanner<Document extends { readonly id?: string }, Values extends object>({
  edit,
  seen,
  current,
}: {
  readonly edit: Edit<Document, Values>;
  readonly seen: Document;
  readonly current: Document;
}) {
  const [isShown, setShown] = useState(false);
  const who = useLastChange(current.id);
  return (
    <>
      <Banner
        tone="warn"
        note="Your edit is kept and not saved."
        actions={
          <>
            <Button small onClick={() => setShown(!isShown)} aria-expanded={isShown}>
              {isShown ? 'Hide that change' : 'Show that change'}
            </Button>
            <Button small onClick={() => void edit.putMineOnTop()}>
              Put mine on top
            </Button>
          </>
        }
      >
        {who}
      </Banner>
      {isShown ? <Diff before={seen} after={current} /> : null}
    </>
  );
}

/** Only admins may read the change log; others learn that somebody was faster. */
function useLastChange(id: string | undefined): string {
  const { role } = useSession();
  const owner = useOwners();
  const changes = useOne(
    'ChangesList',
    { query: { limit: 1, resource_id: id ?? '' } },
    { enabled: role === 'admin' && id !== undefined },
  );
  const last = changes.data?.document.changes[0];
  if (last === undefined) return 'Somebody else changed this in the meantime.';
  return `${last.actor === 'host' ? 'The command line of the host' : last.actor === 'provider' ? 'The identity provider' : owner(last.actor).name} changed this ${formatTime(last.created_at)}.`;
}
