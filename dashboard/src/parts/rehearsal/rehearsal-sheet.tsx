import { useEffect, useId, useRef } from 'react';
import type { ReactNode } from 'react';

import type { CallError } from '../../api/client.ts';
import type { Read } from '../../api/queries.ts';
import { useSession } from '../../api/session.ts';
import { Banner } from '../../components/banner.tsx';
import { Button } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { isLockout, Problem } from '../../components/problem.tsx';
import { Skeleton } from '../../components/states.tsx';
import { isRisky } from './rehearsal.ts';
import type { Rehearsal } from './rehearsal.ts';
import { Proof, Visits } from './rehearsal-parts.tsx';
import { saveWords } from './rehearsal-words.ts';

/** Beside an edit that is not saved: whom it would turn away and whom it would let in. Nothing is saved but by its button. */
export function RehearsalSheet({
  what,
  read,
  isSaving,
  error,
  onSave,
  onAllow,
  onClose,
}: {
  /** Such as "This rule". */
  readonly what: string;
  readonly read: Read<Rehearsal>;
  readonly isSaving: boolean;
  /** What went wrong when it was saved. */
  readonly error: CallError | undefined;
  readonly onSave: (options: { allowLockout?: boolean }) => void;
  /** Changes the edit so that the person stays in, and saves it; left out where the page cannot know how. */
  readonly onAllow?: (() => void) | undefined;
  readonly onClose: () => void;
}) {
  const titleId = useId();
  const element = useFocusWithin();
  const { address } = useSession();
  const { data } = read;
  const locksOut = isLockout(read.error) || isLockout(error);
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- escape is for whatever has the focus inside
    <aside
      ref={element}
      className="rehearsal"
      aria-labelledby={titleId}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return;
        // The dialog around it stays.
        event.preventDefault();
        event.stopPropagation();
        onClose();
      }}
    >
      <div className="sheet-h">
        <h2 className="grow" id={titleId}>
          Who would notice?
        </h2>
        <button type="button" className="btn ghost sm icon-only" aria-label="Close the rehearsal" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div className="sheet-b">
        {locksOut ? (
          <Banner
            tone="deny"
            note={
              <>
                Nothing was changed. You could come back only on the host, with{' '}
                <code>gatehouse restrictions disable</code>.
              </>
            }
            actions={
              onAllow === undefined ? undefined : (
                <Button small look="primary" disabled={isSaving} onClick={onAllow}>
                  Allow my address and save
                </Button>
              )
            }
          >
            This would lock you out: your next call from <code>{address}</code> would be refused.
          </Banner>
        ) : null}
        {data !== undefined ? (
          <>
            <Visits what={what} visits={data.visits} />
            <Proof admitsNew={data.admitsNew} isWhole={typeof data.visits === 'string'} />
          </>
        ) : read.error === undefined ? (
          <Counting what={what} />
        ) : locksOut ? null : (
          <>
            <Problem error={read.error} />
            <p className="soft">Nobody can be named. The change can be saved all the same.</p>
          </>
        )}
        {error === undefined || locksOut ? null : <Problem error={error} />}
      </div>
      <div className="sheet-f">
        <Button onClick={onClose} startsFocused>
          Keep editing
        </Button>
        {locksOut ? (
          <Button look="danger-quiet" disabled={isSaving} onClick={() => onSave({ allowLockout: true })}>
            Save and lock me out
          </Button>
        ) : data !== undefined ? (
          <Button look={isRisky(data) ? 'danger' : 'primary'} disabled={isSaving} onClick={() => onSave({})}>
            {saveWords(data)}
          </Button>
        ) : read.error === undefined ? (
          <Button disabled>Wait for the count to save</Button>
        ) : (
          <>
            <Button onClick={read.retry}>Try again</Button>
            <Button look="danger-quiet" disabled={isSaving} onClick={() => onSave({})}>
              Save without a rehearsal
            </Button>
          </>
        )}
      </div>
    </aside>
  );
}

function Counting({ what }: { readonly what: string }): ReactNode {
  return (
    <>
      <p className="soft" role="status">
        Trying {what.charAt(0).toLowerCase()}
        {what.slice(1)} on the requests that are kept…
      </p>
      <Skeleton lines={4} />
    </>
  );
}

/** The focus starts on the safe button, and returns to where it was. */
function useFocusWithin() {
  const element = useRef<HTMLElement>(null);
  useEffect(() => {
    const before = document.activeElement;
    element.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus({ preventScroll: true });
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus({ preventScroll: true });
    };
  }, []);
  return element;
}
